package requestsubtype

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Codes of the reference product for the subtypes that requests refer to.
const (
	// CodeNotFound (400): a request refers to a subtype that does not exist.
	CodeNotFound = "WFS-101927"
	// CodeOtherKind (400): a request refers to a subtype of another request type.
	CodeOtherKind = "WFS-101933"
)

// TimeOff returns the subtype of time off with an id or, without one, a name.
func (h *Handler) TimeOff(ctx context.Context, id *int64, name string) (*timekeepingv1.TimeOffRequestSubtype, error) {
	var ids []int64
	var names []string
	switch {
	case id != nil:
		ids = []int64{*id}
	case name != "":
		names = []string{name}
	default:
		return nil, timeofffault.Missing("requestSubType")
	}
	found, err := h.find(ctx, ids, names)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fault.Invalid(CodeNotFound, "There is no such request subtype. The operations of request_subtypes list all.")
	}
	if found.GetSubtype().GetTimeOffRequest() == nil {
		return nil, fault.Invalid(CodeOtherKind, "The request subtype is not for time off. The operations of request_subtypes show the type of each.")
	}
	subtype := found.GetSubtype().GetTimeOffRequest()
	return subtype, namePayCodes(ctx, h.pool, subtype)
}

// namePayCodes writes the present pay codes into subtypes.
func namePayCodes(ctx context.Context, pool *pg.Pool, list ...*timekeepingv1.TimeOffRequestSubtype) error {
	var refs []*commonv1.Ref
	for _, s := range list {
		if timeofffault.Named(s.GetDefaultPayCode()) {
			refs = append(refs, s.GetDefaultPayCode())
		}
	}
	return paycode.NamePresent(ctx, pool, refs...)
}

// holdPayCode refers to the default pay code of a subtype by its id, and keeps other transactions from deleting
// the pay code until tx ends. A name that no pay code has stays: the pay code may be created later.
func holdPayCode(ctx context.Context, tx pgx.Tx, s *stored) error {
	ref := s.GetSubtype().GetTimeOffRequest().GetDefaultPayCode()
	if !timeofffault.Named(ref) {
		return nil
	}
	return paycode.Hold(ctx, tx, "timeOffRequest.defaultPayCode", ref)
}

// AllTimeOff returns the subtypes of time off by name, in the language of the caller.
func (h *Handler) AllTimeOff(ctx context.Context) ([]*timekeepingv1.TimeOffRequestSubtype, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	list, err := kind().All(ctx, h.pool)
	if err != nil {
		return nil, err
	}
	var found []*timekeepingv1.RequestSubtype
	for _, s := range list {
		if s.GetSubtype().GetTimeOffRequest() != nil {
			found = append(found, s.GetSubtype())
		}
	}
	tag := localize(acceptlanguage.From(ctx), found...)
	out := make([]*timekeepingv1.TimeOffRequestSubtype, len(found))
	for i, s := range found {
		out[i] = s.GetTimeOffRequest()
	}
	if err := namePayCodes(ctx, h.pool, out...); err != nil {
		return nil, err
	}
	return out, acceptlanguage.SetContentLanguage(ctx, tag)
}
