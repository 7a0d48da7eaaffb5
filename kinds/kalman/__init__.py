"""Kalman predictors of linear systems with Gaussian noise."""

from krohn.program.slices import Slice, Source

SLICE = Slice(
    sources={
        "kalman-predictor": Source(
            f"{__name__}.commands:KalmanPredictors",
            r"RanLDS\d",
            (".kalman",),
            objects=(f"{__name__}.source",),
            examples=f"{__name__}.source_examples:EXAMPLES",
            inputs=f"{__name__}.statement_inputs:observations",
        )
    },
    readers={
        ("started-recurrence", "kalman-predictor"): f"{__name__}.check_rnn",
        ("multihead-attention", "kalman-predictor"): f"{__name__}.check_window",
    },
    finders={
        f"{__name__}.check_rnn": f"{__name__}.find:riccati",
        f"{__name__}.check_window": f"{__name__}.find:riccati",
    },
    public={"kalman": f"{__name__}.commands"},
    uses=(
        "architectures.linear_recurrence",
        "architectures.multihead_attention",
        "kinds.linear_systems",
    ),
)
