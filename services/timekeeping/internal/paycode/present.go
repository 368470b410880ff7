package paycode

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/setupname"
)

// NamePresent writes the ids and the present names of pay codes into references that name them by their
// ids, names or former names. References to unknown pay codes stay.
func NamePresent(ctx context.Context, pool *pg.Pool, refs ...*commonv1.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	return pg.InSnapshot(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := namePresent(ctx, tx, refs)
		return err
	})
}

// Hold writes the id and the present name of a pay code into a reference, as [NamePresent] does, and keeps
// other transactions from deleting the pay code until tx ends. The path is the position of the reference in
// the request. A reference to an unknown pay code stays.
func Hold(ctx context.Context, tx pgx.Tx, path string, ref *commonv1.Ref) error {
	found, err := namePresent(ctx, tx, []*commonv1.Ref{ref})
	if err != nil || len(found) == 0 {
		return err
	}
	_, err = Kind().Resolve(ctx, tx, path, proto.CloneOf(ref)) // The reference keeps no second copy of the name.
	return err
}

// namePresent completes references, and returns those to known pay codes.
func namePresent(ctx context.Context, tx pgx.Tx, refs []*commonv1.Ref) (found []*commonv1.Ref, err error) {
	former, err := setupname.Former(ctx, tx, setupname.PayCode)
	if err != nil {
		return nil, err
	}
	codes, err := Kind().All(ctx, tx)
	if err != nil {
		return nil, err
	}
	byID, byName := map[int64]*timekeepingv1.PayCode{}, map[string]*timekeepingv1.PayCode{}
	for _, code := range codes {
		byID[code.GetId()], byName[strings.ToLower(code.GetName())] = code, code
	}
	for _, ref := range refs {
		name := strings.ToLower(ref.GetQualifier())
		code := byName[name]
		switch {
		case ref.Id != nil:
			code = byID[ref.GetId()]
		case code == nil:
			code = byID[former[name]]
		}
		if code != nil {
			ref.Id, ref.Qualifier = code.Id, proto.String(code.GetName())
			found = append(found, ref)
		}
	}
	return found, nil
}
