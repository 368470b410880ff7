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
		former, err := setupname.Former(ctx, tx, setupname.PayCode)
		if err != nil {
			return err
		}
		codes, err := Kind().All(ctx, tx)
		if err != nil {
			return err
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
			}
		}
		return nil
	})
}
