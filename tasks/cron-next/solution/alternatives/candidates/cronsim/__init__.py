from .cronsim import CronSim, CronSimError
from .search import install

__all__ = ["CronSim", "CronSimError"]

install(CronSim)
