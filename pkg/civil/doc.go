// Package civil is the wall calendar: days, times of day and wall-clock times without a zone. It is
// also the only place that converts them into instants of a zone.
//
// Schedules are promises in civil time ("the night shift begins at 22:00 on Friday"). So the
// product stores and sends dates, wall-clock times and zones, and derives instants at the last
// moment. Storing instants would move shifts at every clock change.
//
// Everything here is a value without I/O, clock or context; only [LoadZone] and [Zones] read the
// time zone data.
package civil
