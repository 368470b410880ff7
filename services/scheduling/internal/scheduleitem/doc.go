// Package scheduleitem manages entered items: shifts, pay code edits and schedule tags that users
// create, and generated entries that users change or delete.
//
// A generated entry is not stored until a user edits it. Then an item with the same id replaces and
// hides it, even if the pattern changes later. A changed entry is detached from its pattern; a
// deleted entry leaves a tombstone.
package scheduleitem
