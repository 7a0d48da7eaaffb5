"""Labels of arrows: where they stand beside their own arrow, others and each other."""

import numpy as np

from krohn.drawing.arrows import SAMPLES, Labels, at, bow

FAR = np.array([[-9.0, 0.0], [9.0, 0.0]])


def test_a_label_does_not_hide_an_arrow_that_crosses_its_own() -> None:
    own = bow(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.0)
    other = at(bow(np.array([0.0, -1.0]), np.array([0.0, 1.0]), 0.0), SAMPLES)
    labels = Labels(FAR, 0.2, np.concatenate([at(own, SAMPLES), other]), [])
    box = labels.beside(own, "a")
    assert box is not None
    assert box.holds(at(own, SAMPLES))
    assert not box.holds(other)


def test_labels_of_one_line_stand_apart() -> None:
    own = bow(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.0)
    labels = Labels(FAR, 0.2, at(own, SAMPLES), [])
    first, second = labels.beside(own, "a, b"), labels.beside(own, "c")
    assert first is not None
    assert second is not None
    assert not first.meets(second)
