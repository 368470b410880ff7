package dataprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// PayCodes knows what pay codes are. timekeeping serves it.
type PayCodes interface {
	ResolvePayCodes(ctx context.Context, req *timekeepingv1.ResolvePayCodesRequest, opts ...grpc.CallOption) (*timekeepingv1.ResolvePayCodesResponse, error)
}

// needsPayCodes is the need of elements that show what a pay code is.
const needsPayCodes uint64 = 1

// maxNames is how many pay codes one call asks for.
const maxNames = 1000

// ofPayCode is an element of the pay code of the first pay code edit; nothing without
// an edit, or when nobody has set the pay code up.
func ofPayCode(key, label, doc string, kind dataelement.Type, of func(*timekeepingv1.PayCode) value) entry {
	return entry{
		Key: key, Label: label, Doc: doc, Type: kind, Categories: scheduling, Series: true, Needs: needsPayCodes,
		Value: func(p *plan, at at) value {
			for e := range p.of(reading.OutlinePayCodeEdit, at.Days) {
				if code := p.payCodes[strings.ToLower(e.Label)]; code != nil {
					return of(code)
				}
				break
			}
			return value{}
		},
	}
}

// addPayCodes gives plans the pay codes of their edits, by one call for all of them,
// when an element needs them. What a pay code is may change at any time and is asked
// for anew, so that a response is never older than the question.
func addPayCodes(ctx context.Context, source PayCodes, plans []*plan, needs uint64) error {
	if needs&needsPayCodes == 0 {
		return nil
	}
	names := map[string]bool{}
	for _, p := range plans {
		for i := range p.entries {
			if e := &p.entries[i]; e.Kind == reading.OutlinePayCodeEdit && e.Label != "" {
				names[strings.ToLower(e.Label)] = true
			}
		}
	}
	known := make(map[string]*timekeepingv1.PayCode, len(names))
	for part := range slices.Chunk(slices.Sorted(maps.Keys(names)), maxNames) {
		found, err := source.ResolvePayCodes(ctx, &timekeepingv1.ResolvePayCodesRequest{Names: part})
		if err != nil {
			return fmt.Errorf("ask for pay codes: %w", err)
		}
		for _, code := range found.GetPayCodes() {
			known[strings.ToLower(code.GetName())] = code
		}
	}
	for _, p := range plans {
		p.payCodes = known
	}
	return nil
}
