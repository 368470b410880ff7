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

// reader asks providers.
type reader struct {
	// within bounds the wait for a provider.
	within time.Duration
	log    *slog.Logger
}

// read fills columns for rows and periods. All providers are asked at the same
// time; the columns of one that fails say why.
func (r reader) read(ctx context.Context, columns []*table.Column, ids []int64, bounds []int32) error {
	asked := map[*catalogue.Provider][]*table.Column{}
	for _, c := range columns {
		asked[c.Element.Provider] = append(asked[c.Element.Provider], c)
	}
	var running sync.WaitGroup
	for p, own := range asked {
		running.Go(func() {
			if err := r.readProvider(ctx, p, own, ids, bounds); err != nil {
				r.fail(ctx, p, own, err)
			}
		})
	}
	running.Wait()
	// Who asked went away: that is no failure of the providers.
	return ctx.Err()
}

func (r reader) readProvider(ctx context.Context, p *catalogue.Provider, columns []*table.Column, ids []int64, bounds []int32) (err error) {
	defer panics.ToError(&err)
	if err := permitted(ctx, p); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, r.within)
	defer cancel()
	req := &datav1.ReadDataElementsRequest{Provider: p.GetName(), RowKind: p.GetRowKind(), RowIds: ids, Bounds: bounds}
	places, at := make([]int, len(columns)), map[string]int{}
	for i, c := range columns {
		name := c.Name()
		if _, there := at[name]; !there {
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

// permitted refuses callers who may not read what the provider has, by its own
// domain's permission.
func permitted(ctx context.Context, p *catalogue.Provider) error {
	caller, ok := authn.From(ctx)
	if !ok || caller.IsService() || p.GetPermission() == "" || caller.Has(p.GetPermission()) {
		return nil
	}
	authn.NoteRefusedItem(ctx, fault.CodeNotPermitted)
	return fault.Forbidden(fault.CodeNotPermitted, fmt.Sprintf("You need the permission %s.", p.GetPermission()))
}

// fail makes columns say why they have no values.
func (r reader) fail(ctx context.Context, p *catalogue.Provider, columns []*table.Column, err error) {
	f := fault.FromError(err)
	reason := f.Message
	switch {
	case errors.Is(err, context.DeadlineExceeded) || f.Code == fault.CodeDeadline:
		reason = fmt.Sprintf("The data provider %s did not respond in time.", p.GetName())
	case f.Status >= 500:
		reason = fmt.Sprintf("The data provider %s cannot be reached at the moment.", p.GetName())
		if ctx.Err() == nil {
			r.log.WarnContext(ctx, "a data provider failed", "provider", p.GetName(), "error", err)
		}
	}
	for _, c := range columns {
		c.Failed = reason
	}
}
