// Package reconcile compares the stored spans of employees with the spans that assignments,
// memberships and locks determine, and writes the differences.
package reconcile
