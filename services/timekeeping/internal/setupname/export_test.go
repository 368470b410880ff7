package setupname

import "context"

// Sweep runs one sweep.
func (n *Names) Sweep(ctx context.Context) error { return n.persons.Sweep(ctx) }
