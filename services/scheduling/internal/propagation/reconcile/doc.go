// Package reconcile compares the spans that employees have with those that follow from
// assignments, memberships and locks, and writes what differs.
package reconcile
