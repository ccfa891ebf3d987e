"""The right-hand side of every claim, one function each, and nothing else: a module for each chapter.

Chapters and tests import a formula from here (`from dplib import bounds`); it is written down nowhere else. All
logarithms are natural unless the name says otherwise. Neighbouring datasets are replace-one, and sensitivities are with
respect to that relation.
"""

from dplib.bounds.foundations import *
from dplib.bounds.query_weights import *
from dplib.bounds.regret import *
from dplib.bounds.sparse_vector import *
from dplib.bounds.weighted_majority import *
