"""Prediction with expert advice: the games of chapters 1 and 2, without privacy.

`prediction` plays for mistakes (halving, weighted majority, its randomised form), `losses` for losses in [-1, 1] (polynomial
weights, Hedge); the two modules of adversaries hold opponents that make the bounds bite.
"""

from dplib.experts.loss_adversaries import *
from dplib.experts.losses import *
from dplib.experts.prediction import *
from dplib.experts.prediction_adversaries import *
