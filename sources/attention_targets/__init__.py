"""Targets of attention: H_t(x) = F(Σ_s softmax_s[ρ(x(t), x(s))] f(x(s))) (Jiang & Li).

The inputs x(1) … x(τ) are points of [0, 1]^d; f maps a point to a vector, ρ two points to
a logit, F an aggregated vector to a number.
"""
