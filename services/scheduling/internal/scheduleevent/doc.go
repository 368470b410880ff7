// Package scheduleevent publishes the data that determines schedules, so that other services can
// keep a copy: patterns, spans, entered shifts and leave. It does not publish data that can be
// computed.
//
// Events contain states and not steps. Each has a revision from a sequence, which is drawn while
// the employees are locked. So the owner of a copy can tell which of two states of an employee is
// later, even if events are reordered or repeated.
package scheduleevent
