"""Worlds: covariance spectra, views, coefficients, laws of features, and scenarios of them.

A spectrum, a pattern of missing features, a rule for theta, an allocation of samples, a way
in which agents differ or a law of features is one class, registered once. A new spectrum, for
instance, is::

    from dataclasses import dataclass
    from collab_core.world.fields import Field
    from collab_core.world.spectra import SPECTRA, Spectrum

    RIPPLE = Field("ripple", "number", "Ripple", "Depth of the waves.", low=0, high=2, default=0.5)

    @SPECTRA.register
    @dataclass(frozen=True)
    class Rippled(Spectrum):
        key = "rippled"
        label = "Rippled variances"
        help = "Up and down from feature to feature."

        ripple: float = RIPPLE.parameter()

        def covariance(self, d, rng):
            return np.diag(1 + self.ripple * np.sin(np.arange(d)) ** 2)

and ``Scenario(spectrum="rippled", ripple=1.0)``, its link, the repair of wrong values, the sidebar
and the code beside figures know it. The others are `views.Pattern` in ``PATTERNS``,
`coefficients.Rule` in ``RULES``, `allocations.Allocation` in ``ALLOCATIONS``, `deviations.Spread`
in ``SPREADS`` and `laws.NamedLaw` in ``LAWS``.
"""
