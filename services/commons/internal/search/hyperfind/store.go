package hyperfind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// Maximum numbers of queries.
const (
	maxPublic   = 1000
	maxPersonal = 100 // for each user
)

// storedQuery is a stored query.
type storedQuery struct {
	*commonsv1.HyperfindQuery
	public bool
	// owner is the user name of the creator, or "" for a built-in query.
	owner string
}

const columns = `id, name, description, owner, public, home, persistent_id, filter_type, constraints`

func scan(row pgx.CollectableRow) (*storedQuery, error) {
	q := &storedQuery{HyperfindQuery: &commonsv1.HyperfindQuery{
		Id: new(int64), Name: new(string), Description: new(string), UsageType: usageRegular,
		Constraints: &commonsv1.HyperfindConstraints{},
	}}
	var home bool
	var constraints []byte
	if err := row.Scan(q.Id, q.Name, q.Description, &q.owner, &q.public, &home, &q.PersistentId,
		&q.InclusiveExclusivefilterType, &constraints); err != nil {
		return nil, err
	}
	q.InclusiveExclusivefilterType = cmp.Or(q.InclusiveExclusivefilterType, inclusive)
	q.Visibility = visibility(q.public)
	if home {
		q.UsageType = usageHome
	}
	if err := proto.Unmarshal(constraints, q.Constraints); err != nil {
		return nil, fmt.Errorf("decode query %d: %w", q.GetId(), err)
	}
	return q, nil
}

// list returns the queries that a user can use: built-in ones first, then by name. Without a
// user, it returns only public ones.
func list(ctx context.Context, db pg.Querier, user *string) ([]*storedQuery, error) {
	found, err := pg.Collect(ctx, db, scan, `SELECT `+columns+` FROM hyperfind_query WHERE tenant_id = $1 AND (public OR owner = $2)
		ORDER BY name, public DESC LIMIT $3`, tenant.Of(ctx), user, maxPublic+maxPersonal)
	return append(builtIn(), found...), err
}

// find returns the query that a reference names: a public query or one of the user's own,
// which takes precedence over a public one with the same name. Personal queries of other
// users are unknown.
func find(ctx context.Context, db pg.Querier, ref *commonv1.Ref, user string) (*storedQuery, error) {
	if ref.Id == nil && ref.GetQualifier() == "" {
		return nil, fault.Invalid(CodeUnknownQuery, "hyperfind needs an id or a qualifier.")
	}
	for _, q := range builtIn() {
		if ref.Id != nil && q.GetId() == ref.GetId() || ref.Id == nil && q.GetName() == ref.GetQualifier() {
			return q, nil
		}
	}
	rows, err := db.Query(ctx, `SELECT `+columns+` FROM hyperfind_query
		WHERE tenant_id = $1 AND (id = $2 OR $2 IS NULL AND name = $3) AND (public OR owner = $4)
		ORDER BY public LIMIT 1`, tenant.Of(ctx), ref.Id, ref.GetQualifier(), user)
	if err != nil {
		return nil, err
	}
	q, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fault.Invalid(CodeUnknownQuery, fmt.Sprintf("There is no hyperfind query with %s.", structure.Text(ref)))
	}
	return q, err
}

// byID returns a query that a user can use, or 404.
func byID(ctx context.Context, db pg.Querier, id int64, user string) (*storedQuery, error) {
	q, err := find(ctx, db, &commonv1.Ref{Id: &id}, user)
	if fault.HasCode(err, CodeUnknownQuery) {
		return nil, fault.NotFound(CodeNotFound, fmt.Sprintf("There is no hyperfind query with the id %d.", id))
	}
	return q, err
}

// readForResponse returns a query that a user can use in the form of responses with details, or 404.
func readForResponse(ctx context.Context, db pg.Querier, id int64, user string) (*storedQuery, error) {
	q, err := byID(ctx, db, id, user)
	if err != nil {
		return nil, err
	}
	return q, nameContained(ctx, db, q.HyperfindQuery)
}

// lock serializes changes to a tenant's queries until the transaction ends.
func lock(ctx context.Context, tx pgx.Tx) error {
	return lockQueries.Wait(ctx, tx)
}

const lockQueries advisory.Lock = "hyperfind queries"

// insert stores a new query. The caller must hold the lock of the tenant's queries.
func insert(ctx context.Context, tx pgx.Tx, q *storedQuery) (id int64, err error) {
	tenantID := tenant.Of(ctx)
	constraints, err := q.encodeConstraints()
	if err != nil {
		return 0, fmt.Errorf("encode a query: %w", err)
	}
	var there int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM hyperfind_query WHERE tenant_id = $1 AND public = $2 AND (public OR owner = $3)`,
		tenantID, q.public, q.owner).Scan(&there); err != nil {
		return 0, err
	}
	limit := maxPersonal
	if q.public {
		limit = maxPublic
	}
	if there >= limit {
		return 0, fault.TooLarge(CodeFull, fmt.Sprintf("There are %d queries, which is the limit. Delete unused ones first.", there)).
			WithLimits(int64(there)+1, int64(limit))
	}
	err = tx.QueryRow(ctx, `INSERT INTO hyperfind_query (tenant_id, name, description, owner, public, home, persistent_id, filter_type, constraints)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`,
		tenantID, q.GetName(), q.GetDescription(), q.owner, q.public, q.GetUsageType() == usageHome, q.GetPersistentId(),
		q.GetInclusiveExclusivefilterType(), constraints).Scan(&id)
	if err != nil {
		return 0, uniqueError(err)
	}
	return id, storeContained(ctx, tx, id, q.GetConstraints())
}

// encodeConstraints returns the constraints as they are stored.
func (q *storedQuery) encodeConstraints() ([]byte, error) {
	out, err := proto.Marshal(q.GetConstraints())
	if out == nil {
		out = []byte{}
	}
	return out, err
}

// update replaces a query, except its owner and its persistent id.
func update(ctx context.Context, tx pgx.Tx, q *storedQuery) error {
	constraints, err := q.encodeConstraints()
	if err != nil {
		return fmt.Errorf("encode query %d: %w", q.GetId(), err)
	}
	if _, err := tx.Exec(ctx, `UPDATE hyperfind_query SET name = $3, description = $4, public = $5, home = $6, filter_type = $7,
		constraints = $8, updated_at = now() WHERE tenant_id = $1 AND id = $2`,
		tenant.Of(ctx), q.GetId(), q.GetName(), q.GetDescription(), q.public, q.GetUsageType() == usageHome,
		q.GetInclusiveExclusivefilterType(), constraints); err != nil {
		return uniqueError(err)
	}
	return storeContained(ctx, tx, q.GetId(), q.GetConstraints())
}

func remove(ctx context.Context, tx pgx.Tx, id int64) error {
	tenantID := tenant.Of(ctx)
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM hyperfind_profile_query WHERE tenant_id = $1 AND query_id = $2`, tenantID, id)
	batch.Queue(`DELETE FROM hyperfind_query WHERE tenant_id = $1 AND id = $2`, tenantID, id)
	return tx.SendBatch(ctx, batch).Close()
}

func uniqueError(err error) error {
	for _, index := range []string{"hyperfind_query_name", "hyperfind_query_own_name", "hyperfind_query_persistent_id", "hyperfind_profile_name"} {
		if pgerr.IsUnique(err, index) {
			return fault.Invalid(CodeTaken, "Another query or profile has the name or the persistentId. Choose another one.")
		}
	}
	return err
}

// isBuiltIn reports whether a built-in query has the name.
func isBuiltIn(name string) bool {
	return slices.ContainsFunc(builtIn(), func(q *storedQuery) bool { return q.GetName() == name })
}

// isBuiltInID reports whether a built-in query has the persistent id.
func isBuiltInID(id string) bool {
	return slices.ContainsFunc(builtIn(), func(q *storedQuery) bool { return q.GetPersistentId() == id })
}
