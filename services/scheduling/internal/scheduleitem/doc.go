// Package scheduleitem keeps what people enter: shifts, pay code edits and schedule tags made by
// hand, and generated entries that somebody changed or deleted.
//
// A generated entry is written nowhere until somebody touches it. Then an item
// with the same id takes its place and hides it, whatever the pattern says
// later: changed, it is detached; deleted, a tombstone stays.
package scheduleitem
