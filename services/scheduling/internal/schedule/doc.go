// Package schedule serves ScheduleService. Package request parses requests, package reading reads
// the schedules into a window, and package encoding encodes the window. Package window is the model
// that both share. Package segment calculates with the times of shifts.
package schedule
