package dataaccess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/panics"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/catalogue"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/table"
)

// reader calls the providers.
type reader struct {
	// within bounds the wait for a provider.
	within time.Duration
	log    *slog.Logger
}

// read fills the columns for rows and periods. It calls all providers concurrently. If a provider fails, its
// columns get the reason.
func (r reader) read(ctx context.Context, columns []*table.Column, ids []int64, bounds []int32) error {
	columnsByProvider := map[*catalogue.Provider][]*table.Column{}
	for _, c := range columns {
		if c.Element == nil {
			continue // The element is unknown.
		}
		columnsByProvider[c.Element.Provider] = append(columnsByProvider[c.Element.Provider], c)
	}
	var running sync.WaitGroup
	for p, ownColumns := range columnsByProvider {
		running.Go(func() {
			if err := r.readProvider(ctx, p, ownColumns, ids, bounds); err != nil {
				r.fail(ctx, p, ownColumns, err)
			}
		})
	}
	running.Wait()
	// The caller may have disconnected. That is not a failure of the providers.
	return ctx.Err()
}

func (r reader) readProvider(ctx context.Context, p *catalogue.Provider, columns []*table.Column, ids []int64, bounds []int32) (err error) {
	defer panics.ToError(&err)
	if err := checkPermission(ctx, p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowKind: p.GetRowKind(), RowIds: ids, Bounds: bounds}
	places, at := make([]int, len(columns)), map[string]int{}
	for i, c := range columns {
		name := c.Name()
		if _, found := at[name]; !found {
			at[name] = len(req.Elements)
			req.Elements = append(req.Elements, &datav1.DataSelection{Key: c.Key, Properties: c.Properties})
		}
		places[i] = at[name]
	}
	response, err := p.Client.ReadDataElements(ctx, req)
	if err != nil {
		return err
	}
	if len(response.GetColumns()) != len(req.Elements) {
		return fmt.Errorf("dataaccess: %s returned %d columns of %d", p.GetName(), len(response.GetColumns()), len(req.Elements))
	}
	for i, c := range columns {
		cells := len(ids)
		if c.Series {
			cells *= len(bounds) - 1
		}
		c.Fill(response.GetColumns()[places[i]], cells)
	}
	return nil
}

// checkPermission refuses callers without the permission that the provider's domain requires.
func checkPermission(ctx context.Context, p *catalogue.Provider) error {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() || p.GetPermission() == "" || caller.Has(p.GetPermission()) {
		return nil
	}
	authn.NoteDeniedItem(ctx, fault.CodeNotPermitted)
	return fault.Forbidden(fault.CodeNotPermitted, fmt.Sprintf("You need the permission %s.", p.GetPermission()))
}

// fail sets the reason why columns have no values.
func (r reader) fail(ctx context.Context, p *catalogue.Provider, columns []*table.Column, err error) {
	f := fault.FromError(err)
	reason := f.Message
	switch {
	case errors.Is(err, context.DeadlineExceeded) || f.Code == fault.CodeDeadline:
		reason = fmt.Sprintf("The data provider %s did not respond in time.", p.GetName())
	case f.Status >= 500:
		reason = fmt.Sprintf("The data provider %s is unreachable at the moment.", p.GetName())
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "a data provider failed", "provider", p.GetName(), "error", err)
		}
	}
	for _, c := range columns {
		c.Failed = reason
	}
}
