package recovery

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/services/auth"
)

// Orphans is the command that lists rows whose owner is missing.
type Orphans struct {
	boot.Output
	Installation
}

// Do prints each person, employment term and location that a service refers to but its owner lacks, with the
// rows that refer to it. It changes nothing.
func (o *Orphans) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pools, end, err := o.openPools(ctx, log)
	if err != nil {
		return err
	}
	defer end()
	tenants, err := auth.TenantIDs(ctx, pools["auth"])
	if err != nil {
		return err
	}
	found, err := FindOrphans(ctx, pools, tenants)
	if err != nil {
		return err
	}
	if found == nil {
		found = []*Orphan{}
	}
	return o.Print(out, found, func(table io.Writer) {
		for _, orphan := range found {
			fmt.Fprintln(table, orphan.text())
		}
		fmt.Fprintf(table, "%d missing objects are referred to by rows of other services\n", len(found))
	})
}
