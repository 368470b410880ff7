package schedulegroup

import "context"

// Sweep runs one sweep.
func (h *Handler) Sweep(ctx context.Context) error { return h.persons.Sweep(ctx) }
