// Package civil is the calendar on the wall: days, times of day and wall-clock times that belong to no
// zone, and the one place where they meet a zone and become instants.
//
// Schedules are promises in civil time ("the night shift begins at 22:00 on Friday"), so dates, wall-clock
// times and zones are what is stored and carried; instants are derived from them at the last moment. The
// opposite way loses shifts at every clock change.
//
// Everything here is a value without I/O, clock or context; only [LoadZone] and [Zones] look into the time
// zone data.
package civil
