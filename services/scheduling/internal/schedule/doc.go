// Package schedule serves ScheduleService. Package request parses requests, package reading reads
// the schedules, and package encoding encodes them. Package segment calculates with the times of
// shifts.
package schedule
