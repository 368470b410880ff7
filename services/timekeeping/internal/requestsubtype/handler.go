package requestsubtype

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Handler serves RequestSubtypeService.
type Handler struct {
	timekeepingv1.UnsafeRequestSubtypeServiceServer

	pool *pg.Pool
}

var _ timekeepingv1.RequestSubtypeServiceServer = (*Handler)(nil)

// New returns a Handler that keeps subtypes in the database of the pool.
func New(pool *pg.Pool) *Handler { return &Handler{pool: pool} }

// ready ensures that the tenant of a call has its initial subtypes.
func (h *Handler) ready(ctx context.Context) error {
	return ensureSeeded(ctx, h.pool)
}

// GetRequestSubtype returns one subtype, or 404.
func (h *Handler) GetRequestSubtype(ctx context.Context, req *timekeepingv1.GetRequestSubtypeRequest) (*timekeepingv1.RequestSubtype, error) {
	found, err := h.byID(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return h.response(ctx, found)
}

// FindRequestSubtype returns the subtype with a name, or 404.
func (h *Handler) FindRequestSubtype(ctx context.Context, req *timekeepingv1.FindRequestSubtypeRequest) (*timekeepingv1.RequestSubtype, error) {
	if req.GetName() == "" {
		return nil, timeofffault.Missing("name")
	}
	found, err := h.find(ctx, nil, []string{req.GetName()})
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, fault.NotFound(CodeUnknownName, fmt.Sprintf("There is no request subtype with the name %q.", req.GetName()))
	}
	return h.response(ctx, found)
}

func (h *Handler) byID(ctx context.Context, id int64) (*stored, error) {
	found, err := h.find(ctx, []int64{id}, nil)
	if err == nil && found == nil {
		err = unknownID(id)
	}
	return found, err
}

func unknownID(id int64) error {
	return fault.NotFound(CodeUnknownID, fmt.Sprintf("There is no request subtype with the id %d.", id))
}

// find returns the subtype with an id or a name, or nil.
func (h *Handler) find(ctx context.Context, ids []int64, names []string) (*stored, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	list, err := kind().Find(ctx, h.pool, ids, names)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// response returns a subtype in the language of the caller, with the present name of its pay code.
func (h *Handler) response(ctx context.Context, s *stored) (*timekeepingv1.RequestSubtype, error) {
	if err := namePayCodes(ctx, h.pool, s.GetSubtype().GetTimeOffRequest()); err != nil {
		return nil, err
	}
	tag := localize(acceptlanguage.From(ctx), s.GetSubtype())
	return s.GetSubtype(), acceptlanguage.SetContentLanguage(ctx, tag)
}

// MultiReadRequestSubtypes returns the subtypes of the requested types, sorted by name within each
// type. Without a criterion, it returns the subtypes of all types.
func (h *Handler) MultiReadRequestSubtypes(ctx context.Context, req *timekeepingv1.MultiReadRequestSubtypesRequest) (*timekeepingv1.RequestSubtypeLists, error) {
	wanted, err := findTypeIDs(req.GetWhere().GetRequestTypes())
	if err != nil {
		return nil, err
	}
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	list, err := kind().All(ctx, h.pool)
	if err != nil {
		return nil, err
	}
	var found []*timekeepingv1.RequestSubtype
	for _, s := range list {
		if _, t := inner(s.GetSubtype()); slices.Contains(wanted, t.id) {
			found = append(found, s.GetSubtype())
		}
	}
	tag := localize(acceptlanguage.From(ctx), found...)
	out := &timekeepingv1.RequestSubtypeLists{}
	for _, w := range found {
		add(out, w)
	}
	if err := namePayCodes(ctx, h.pool, out.GetTimeOffRequests()...); err != nil {
		return nil, err
	}
	return out, acceptlanguage.SetContentLanguage(ctx, tag)
}

// findTypeIDs returns the ids of the requested types, or of all types without a criterion.
func findTypeIDs(refs *timekeepingv1.RequestTypeRefs) ([]int64, error) {
	all := requestTypes()
	var ids []int64
	if refs == nil {
		for _, t := range all {
			ids = append(ids, t.id)
		}
		return ids, nil
	}
	if err := fault.ExactlyOne(CodeOneList, "where.requestTypes", "ids and qualifiers", len(refs.GetIds()) > 0, len(refs.GetQualifiers()) > 0); err != nil {
		return nil, err
	}
	for _, id := range refs.GetIds() {
		if !slices.ContainsFunc(all, func(t requestType) bool { return t.id == id }) {
			return nil, fault.Invalid(CodeUnknownTypeID, fmt.Sprintf("There is no request type with the id %d. There are %s.", id, typeNames()))
		}
		ids = append(ids, id)
	}
	for _, text := range refs.GetQualifiers() {
		i := slices.IndexFunc(all, func(t requestType) bool { return t.is(text) })
		if i < 0 {
			return nil, fault.Invalid(CodeUnknownType, fmt.Sprintf("There is no request type %q. There are %s.", text, typeNames()))
		}
		ids = append(ids, all[i].id)
	}
	return ids, nil
}

func typeNames() string {
	var names []string
	for _, t := range requestTypes() {
		names = append(names, fmt.Sprintf("%d %q", t.id, t.name))
	}
	return strings.Join(names, ", ")
}

// CreateRequestSubtype stores a new subtype. It ignores an id and a version in the body.
func (h *Handler) CreateRequestSubtype(ctx context.Context, given *timekeepingv1.RequestSubtype) (*timekeepingv1.RequestSubtype, error) {
	s, _, err := prepare(given)
	if err != nil {
		return nil, err
	}
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	var created *stored
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := holdPayCode(ctx, tx, s); err != nil {
			return err
		}
		created, err = kind().Insert(ctx, tx, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.response(ctx, created)
}

// UpdateRequestSubtype replaces a subtype with one of the same type. A version in the body must
// equal the stored version.
func (h *Handler) UpdateRequestSubtype(ctx context.Context, req *timekeepingv1.UpdateRequestSubtypeRequest) (*timekeepingv1.RequestSubtype, error) {
	s, t, err := prepare(req.GetRequestSubtype())
	if err != nil {
		return nil, err
	}
	held, _ := inner(s.GetSubtype())
	if id := held.GetId(); id != 0 {
		if err := timeofffault.Codes().CheckID(req.GetId(), &id); err != nil {
			return nil, err
		}
	}
	version, err := timeofffault.Codes().ParseVersion(kindName(t), held.GetVersion())
	if err != nil {
		return nil, err
	}
	now, err := h.byID(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if _, is := inner(now.GetSubtype()); is != t {
		return nil, fault.Invalid(CodeKind, fmt.Sprintf("The request subtype %d is a %s. Its type cannot change.", req.GetId(), kindName(is)))
	}
	var updated *stored
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := holdPayCode(ctx, tx, s); err != nil {
			return err
		}
		updated, _, err = kind().Replace(ctx, tx, req.GetId(), s, version)
		return err
	})
	if err != nil {
		return nil, err
	}
	return h.response(ctx, updated)
}

// DeleteRequestSubtype deletes a subtype, or returns 404.
func (h *Handler) DeleteRequestSubtype(ctx context.Context, req *timekeepingv1.DeleteRequestSubtypeRequest) (*emptypb.Empty, error) {
	if err := h.ready(ctx); err != nil {
		return nil, err
	}
	resource := setup.Resource[*stored]{Kind: kind(), Pool: h.pool}
	done, err := resource.Delete(ctx, req.GetId(), req.Version)
	if err != nil {
		if fault.FromError(err).Code == timeofffault.CodeUnknown {
			err = unknownID(req.GetId())
		}
		return nil, err
	}
	return done, nil
}
