// Package propagation applies changes of assignments, terms and memberships to
// the schedules of the employees whom they concern.
//
// Whoever stores such a change calls [Start] in the same transaction. The
// planner then divides the employees into batches, which wait for their turn,
// and workers bring the batches up to date: each in one transaction that reads
// everything which decides its employees' spans as it is then, and writes the
// spans that differ. With a batch it ends those of other propagations that
// concern the same employees: they are up to date as well.
// So a message is only a hint that there may be something to do. It does no
// harm when it comes twice, late or in another order, and a worker that dies
// leaves nothing half done. What the broker loses the sweep finds in the
// database and asks for again.
//
// A change that is committed before a worker has taken the lock of its
// employees is seen by this worker; one that is committed later starts a
// propagation whose workers see it. Either way the last worker sees all.
//
// This package has what others start and see of it. Package propagator plans and works,
// package reconcile computes what employees' spans should be, and package retention
// takes away history that is too old.
package propagation
