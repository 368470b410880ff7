package requestsubtype

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

type stored = timekeepingv1.StoredRequestSubtype

// kind returns the declaration of subtypes. The id, the version and the request type are set when a
// subtype is read. Texts are stored as sent.
func kind() *setup.Kind[*stored] {
	return setup.NewKind(setup.Declaration[*stored]{
		Codes: timeofffault.Codes(),
		What:  "request subtype",
		Table: "request_subtype",
		Strip: func(s *stored) {
			if held, _ := inner(s.GetSubtype()); held != nil {
				clearFields(held.ProtoReflect(), "id", "version", "localized_name", "localized_description", "request_type")
			}
		},
		Fill: func(s *stored, version int64) {
			held, t := inner(s.GetSubtype())
			if held == nil {
				return
			}
			m := held.ProtoReflect()
			set(m, "id", protoreflect.ValueOfInt64(s.GetId()))
			set(m, "version", protoreflect.ValueOfString(strconv.FormatInt(version, 10)))
			set(m, "request_type", protoreflect.ValueOfMessage(t.message().ProtoReflect()))
		},
	})
}

// seed gives a tenant the initial subtypes once. Initial subtypes that the tenant deletes do not
// come back.
const seed = `
WITH first AS (
    INSERT INTO request_subtype_seed (tenant_id) VALUES ($1) ON CONFLICT DO NOTHING RETURNING tenant_id
)
INSERT INTO request_subtype (tenant_id, id, name, body)
SELECT first.tenant_id, given.id, given.name, given.body
FROM first, unnest($2::bigint[], $3::text[], $4::bytea[]) AS given (id, name, body)`

const seeded = `SELECT EXISTS (SELECT FROM request_subtype_seed WHERE tenant_id = $1)`

const seeds pg.Unaudited = "what every tenant begins with is there before anybody acts"

// ensureSeeded ensures that the tenant has received the initial subtypes.
func ensureSeeded(ctx context.Context, pool *pg.Pool) error {
	tenantID := tenant.Of(ctx)
	var done bool
	if err := pool.QueryRow(ctx, seeded, tenantID).Scan(&done); err != nil || done {
		return err
	}
	type row struct {
		ID   int64
		Name string
		Body []byte
	}
	var rows []row
	for _, t := range requestTypes() {
		body, err := proto.Marshal(&stored{Name: t.subtype, Subtype: t.first()})
		if err != nil {
			return fmt.Errorf("request_subtype: encode: %w", err)
		}
		rows = append(rows, row{t.id, t.subtype, body})
	}
	if _, err := seeds.Exec(ctx, pool, seed, pg.Columns(rows, tenantID)...); err != nil {
		return fmt.Errorf("request_subtype: seed: %w", err)
	}
	return nil
}
