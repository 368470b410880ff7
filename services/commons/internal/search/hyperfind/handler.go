package hyperfind

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// maxDescription limits descriptions, in characters.
const maxDescription = 1000

// Periods resolves symbolic periods to days.
type Periods interface {
	// Days returns the days of a symbolic period, relative to the caller's present day.
	Days(ctx context.Context, ref *commonv1.Ref) (civil.Range, error)
}

// Handler serves HyperfindService.
type Handler struct {
	commonsv1.UnsafeHyperfindServiceServer

	pool    *pg.Pool
	finder  *Finder
	rules   *rowvisibility.Rules
	periods Periods
	groups  GroupUsers
}

var _ commonsv1.HyperfindServiceServer = (*Handler)(nil)

// New returns a Handler. The rules decide which persons callers may see.
func New(pool *pg.Pool, finder *Finder, rules *rowvisibility.Rules, periods Periods, groups GroupUsers) *Handler {
	return &Handler{pool: pool, finder: finder, rules: rules, periods: periods, groups: groups}
}

// CreateHyperfindQuery stores a new query. The caller becomes its owner.
func (h *Handler) CreateHyperfindQuery(ctx context.Context, given *commonsv1.HyperfindQuery) (*commonsv1.HyperfindQuery, error) {
	if given.Id != nil {
		return nil, query.Invalid("id", "must not be sent with a new query")
	}
	q, err := validate(given)
	if err != nil {
		return nil, err
	}
	if err := writable(ctx, q); err != nil {
		return nil, err
	}
	q.owner = query.Caller(ctx)
	if q.PersistentId == "" {
		q.PersistentId = structure.NewPersistentID()
	}
	var created *storedQuery
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		if err := resolveContained(ctx, tx, q.Constraints, q.public, q.owner); err != nil {
			return err
		}
		if err := checkContained(ctx, tx, q); err != nil {
			return err
		}
		id, err := insert(ctx, tx, q)
		if err != nil {
			return err
		}
		audit.Object(ctx, id)
		created, err = readForResponse(ctx, tx, id, q.owner)
		return err
	})
	if err != nil {
		return nil, err
	}
	return created.HyperfindQuery, nil
}

// UpdateHyperfindQuery replaces a query, except its owner and its persistent id. If the
// request has no constraints, the stored ones stay: responses contain constraints only on
// request, and sending a response back must not turn the query into one for all persons.
func (h *Handler) UpdateHyperfindQuery(ctx context.Context, req *commonsv1.UpdateHyperfindQueryRequest) (*commonsv1.HyperfindQuery, error) {
	if sent := req.GetQuery(); sent != nil && sent.Id != nil && sent.GetId() != req.GetId() {
		return nil, query.Invalid("id", "is not the one in the path")
	}
	q, err := validate(req.GetQuery())
	if err != nil {
		return nil, err
	}
	if err := writable(ctx, q); err != nil {
		return nil, err
	}
	q.Id = &req.Id
	var updated *storedQuery
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockForChange(ctx, tx, req.GetId()); err != nil {
			return err
		}
		old, err := byID(ctx, tx, req.GetId(), query.Caller(ctx))
		if err != nil {
			return err
		}
		if err := h.groups.follow(ctx, tx, old, q); err != nil {
			return err
		}
		if err := replace(ctx, tx, old, q); err != nil {
			return err
		}
		updated, err = readForResponse(ctx, tx, req.GetId(), query.Caller(ctx))
		return err
	})
	if err != nil {
		return nil, err
	}
	return updated.HyperfindQuery, nil
}

// replace stores a query in place of an old one. The caller must hold the lock of the tenant's queries.
func replace(ctx context.Context, tx pgx.Tx, old, q *storedQuery) error {
	if q.Constraints == nil {
		q.Constraints = old.GetConstraints()
	}
	if err := resolveContained(ctx, tx, q.Constraints, q.public, old.owner); err != nil {
		return err
	}
	if err := checkContained(ctx, tx, q); err != nil {
		return err
	}
	if old.public && !q.public {
		if err := checkNotContained(ctx, tx, old, &old.owner); err != nil {
			return err
		}
	}
	if err := update(ctx, tx, q); err != nil {
		return err
	}
	return checkContaining(ctx, tx, q.GetId())
}

// DeleteHyperfindQuery deletes a query.
func (h *Handler) DeleteHyperfindQuery(ctx context.Context, req *commonsv1.DeleteHyperfindQueryRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lockForChange(ctx, tx, req.GetId()); err != nil {
			return err
		}
		old, err := byID(ctx, tx, req.GetId(), query.Caller(ctx))
		if err != nil {
			return err
		}
		if err := h.groups.checkUnused(ctx, tx, old); err != nil {
			return err
		}
		if err := checkNotContained(ctx, tx, old, nil); err != nil {
			return err
		}
		return remove(ctx, tx, req.GetId())
	})
}

// lockForChange locks the tenant's queries and checks that the caller may change
// one of them.
func lockForChange(ctx context.Context, tx pgx.Tx, id int64) error {
	if err := lock(ctx, tx); err != nil {
		return err
	}
	q, err := byID(ctx, tx, id, query.Caller(ctx))
	if err != nil {
		return err
	}
	if q.GetId() < firstOwnID {
		return fault.Invalid(CodeBuiltIn, fmt.Sprintf("%q is built in and cannot be changed.", q.GetName()))
	}
	// Everyone who may write public queries may change them, because their creators may leave.
	return writable(ctx, q)
}

// validate checks a sent query, except the contained queries, and returns it in stored form.
func validate(given *commonsv1.HyperfindQuery) (*storedQuery, error) {
	q := &storedQuery{HyperfindQuery: proto.CloneOf(given)}
	name := given.GetName()
	switch {
	case given == nil || strings.TrimSpace(name) == "":
		return nil, query.Invalid("name", "is missing")
	case strings.TrimSpace(name) != name || strings.ContainsRune(name, 0) || utf8.RuneCountInString(name) > structure.MaxName:
		return nil, query.Invalid("name", "must have at most %d characters, and no space at its ends", structure.MaxName)
	case isBuiltIn(name):
		return nil, fault.Invalid(CodeTaken, fmt.Sprintf("%q is the name of a built-in query. Choose another.", name))
	case isBuiltInID(given.GetPersistentId()):
		return nil, fault.Invalid(CodeTaken, fmt.Sprintf("%q is the persistentId of a built-in query. Choose another.", given.GetPersistentId()))
	case utf8.RuneCountInString(given.GetDescription()) > maxDescription || strings.ContainsRune(given.GetDescription(), 0):
		return nil, query.Invalid("description", "must have at most %d characters", maxDescription)
	case len(given.GetPersistentId()) > structure.MaxName || strings.ContainsRune(given.GetPersistentId(), 0):
		return nil, query.Invalid("persistentId", "must have at most %d characters", structure.MaxName)
	case len(given.GetInclusiveExclusivefilterType()) > structure.MaxName || strings.ContainsRune(given.GetInclusiveExclusivefilterType(), 0):
		return nil, query.Invalid("inclusiveExclusivefilterType", "must have at most %d characters", structure.MaxName)
	}
	var err error
	if q.public, err = isPublic(given.GetVisibility()); err != nil {
		return nil, err
	}
	if q.UsageType, err = usageType(given.GetUsageType(), usageHome); err != nil {
		return nil, err
	}
	if q.UsageType == "" {
		return nil, fault.Invalid(CodeUsageType, "usageType must be Home or Regular.")
	}
	if _, err := query.Parse(given.GetConstraints()); err != nil {
		return nil, err
	}
	q.Constraints = query.Canonical(q.GetConstraints())
	return q, nil
}

func isPublic(v *commonsv1.HyperfindVisibility) (bool, error) {
	switch {
	case v == nil, v.GetId() == 1, v.Id == nil && strings.EqualFold(v.GetName(), visibilityPublic):
		return true, nil
	case v.GetId() == 2, v.Id == nil && strings.EqualFold(v.GetName(), visibilityPersonal):
		return false, nil
	}
	return false, query.Invalid("visibility", "must be Public (1) or Personal (2)")
}

// usageType parses a usage type in any case. It returns the default for an empty text, and ""
// for All.
func usageType(given, otherwise string) (string, error) {
	switch strings.ToUpper(given) {
	case "":
		return otherwise, nil
	case "HOME":
		return usageHome, nil
	case "REGULAR":
		return usageRegular, nil
	case "ALL":
		return "", nil
	}
	return "", fault.Invalid(CodeUsageType, "usage_type must be Home, Regular or All.")
}
