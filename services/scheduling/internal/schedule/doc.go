// Package schedule serves ScheduleService. A request is read by package request,
// put together by package reading, and written by package encoding; package
// segment holds the arithmetic of a shift's times.
package schedule
