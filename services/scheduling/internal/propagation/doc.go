// Package propagation applies changes of assignments, terms and memberships to the schedules of
// employees.
//
// A transaction that stores such a change calls [Start]. The planner then divides the affected
// employees into batches, which wait for their turn, and workers process the batches. A worker
// locks the employees of a batch, reads everything that determines their spans, and writes the
// spans that differ, all in one transaction. It also completes batches of other propagations for
// the same employees, because these are then up to date as well. So a message is only a hint that
// there may be work. Messages can arrive twice, late or in another order, and a worker that dies
// leaves nothing half done. The sweep finds messages that the broker lost, and sends them again.
//
// A worker sees all changes that were committed before it locked the employees. A later change
// starts a propagation, and its workers see that change. Either way the last worker sees all
// changes.
//
// This package starts propagations and shows them. Package propagator plans and processes them,
// package reconcile computes the spans of employees, and package retention deletes old history.
package propagation
