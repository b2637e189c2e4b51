"""Walks day by day; within a day the time is found by bisection over seconds of the day."""
from bisect import bisect_left, bisect_right
from datetime import date, datetime, time, timedelta

DAY = timedelta(days=1)


class Walker:
    def __init__(self, sim):
        self.sim = sim
        self.step = sim.tick_direction
        self.times = sorted(
            3600 * hour + 60 * minute + second
            for hour in sim.hours for minute in sim.minutes for second in sim.seconds
        )

    def first_candidate(self):
        sim = self.sim
        if sim.skip_initial_tick:
            sim.skip_initial_tick = False
            return sim.dt
        return sim.dt + timedelta(seconds=self.step)

    def search(self):
        candidate = self.first_candidate()
        day, seconds = candidate.date(), candidate.hour * 3600 + candidate.minute * 60 + candidate.second
        last_year = day.year + 50 * self.step
        while (last_year - day.year) * self.step >= 0:
            if self.is_day(day):
                found = self.time_at_or_beyond(seconds)
                if found is not None:
                    moment = datetime.combine(day, time()) + timedelta(seconds=found)
                    return moment.replace(tzinfo=candidate.tzinfo)
            day += DAY * self.step
            seconds = 0 if self.step > 0 else 86399
        raise StopIteration

    def time_at_or_beyond(self, seconds):
        if self.step > 0:
            at = bisect_left(self.times, seconds)
            return self.times[at] if at < len(self.times) else None
        at = bisect_right(self.times, seconds)
        return self.times[at - 1] if at > 0 else None

    def is_day(self, day: date) -> bool:
        if day.month not in self.sim.months:
            return False
        checks = (self.is_number, self.is_weekday)
        return (all if self.sim.day_and else any)(check(day) for check in checks)

    def is_number(self, day):
        wanted = self.sim.days
        if day.day in wanted:
            return True
        ends_month = (day + DAY).month != day.month
        if ends_month and self.sim.LAST in wanted:
            return True
        if self.sim.LAST_WEEKDAY not in wanted or day.isoweekday() > 5:
            return False
        monday_after = day + (DAY if day.isoweekday() < 5 else 3 * DAY)
        return monday_after.month != day.month

    def is_weekday(self, day):
        numbers = {0, 7} if day.isoweekday() == 7 else {day.isoweekday()}
        count = (day.day - 1) // 7 + 1
        is_last = (day + 7 * DAY).month != day.month
        for number in numbers:
            if number in self.sim.weekdays or (number, count) in self.sim.weekdays:
                return True
            if is_last and (number, self.sim.LAST) in self.sim.weekdays:
                return True
        return False


def install(cls):
    def advance(self):
        walker = self.__dict__.get("_walker")
        if walker is None:
            walker = self._walker = Walker(self)
        self.dt = walker.search()
        return self.dt

    cls.__iter__ = lambda self: self
    cls.__next__ = advance
