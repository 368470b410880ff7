package hyperfind

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// parse returns the node of constraints for some days. It loads the contained queries, one level at a time.
// The constraints must have ids of queries, as stored ones do.
func parse(ctx context.Context, db pg.Querier, constraints *commonsv1.HyperfindConstraints, days civil.Range) (*query.Node, error) {
	contained, err := loadContained(ctx, db, constraints)
	if err != nil {
		return nil, err
	}
	return query.ParseOn(constraints, days, contained)
}

// loadContained returns the queries that constraints contain, directly or through others.
func loadContained(ctx context.Context, db pg.Querier, constraints ...*commonsv1.HyperfindConstraints) (query.Contained, error) {
	out := query.Contained{}
	for level := 0; len(constraints) > 0 && level <= query.MaxNested; level++ {
		var ids []int64
		for _, c := range constraints {
			for _, ref := range query.ContainedRefs(c) {
				if _, there := out[ref.GetId()]; !there {
					ids = append(ids, ref.GetId())
				}
			}
		}
		found, err := byIDs(ctx, db, ids)
		if err != nil {
			return nil, err
		}
		constraints = nil
		for _, q := range found {
			out[q.GetId()] = q.GetConstraints()
			constraints = append(constraints, q.GetConstraints())
		}
	}
	return out, nil
}

// byIDs returns the existing queries with the ids, also the personal ones of other users.
func byIDs(ctx context.Context, db pg.Querier, ids []int64) ([]*storedQuery, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := pg.Collect(ctx, db, scan, `SELECT `+columns+` FROM hyperfind_query WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids)
	return append(builtIn(), found...), err
}

// resolveContained replaces the references to queries in constraints with ids, so that a new name of a
// query changes nothing. A public query can contain public ones, and a personal one also the owner's.
func resolveContained(ctx context.Context, db pg.Querier, constraints *commonsv1.HyperfindConstraints, public bool, owner string) error {
	refs := query.ContainedRefs(constraints)
	if len(refs) == 0 {
		return nil
	}
	unknown := func(ref *commonv1.Ref) error {
		if public {
			return fault.Invalid(CodeUnknownQuery, fmt.Sprintf(
				"There is no public hyperfind query with %s. A public query can contain public queries only.", structure.Text(ref)))
		}
		return fault.Invalid(CodeUnknownQuery, fmt.Sprintf("There is no hyperfind query with %s.", structure.Text(ref)))
	}
	var ownIDs []int64
	var ownNames []string
	for _, q := range builtIn() {
		ownIDs, ownNames = append(ownIDs, q.GetId()), append(ownNames, q.GetName())
	}
	ids, err := structure.Resolve(refs, func(ids []int64, names []string) (pgx.Rows, error) {
		// The last row with a name counts: a user's own query takes precedence over a public one.
		return db.Query(ctx, `SELECT b.id, n.name FROM unnest($6::bigint[], $7::text[]) AS b (id, name) CROSS JOIN LATERAL (VALUES (NULL), (b.name)) AS n (name)
			UNION ALL SELECT id, NULL FROM hyperfind_query WHERE tenant_id = $1 AND id = ANY($2) AND (public OR NOT $4 AND owner = $5)
			UNION ALL (SELECT id, name FROM hyperfind_query WHERE tenant_id = $1 AND name = ANY($3) AND (public OR NOT $4 AND owner = $5)
			ORDER BY public DESC)`, tenant.Of(ctx), ids, names, public, owner, ownIDs, ownNames)
	}, unknown)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		ref.Id, ref.Qualifier, ref.Name, ref.LocalizedQualifier = &ids[i], nil, nil, nil
	}
	return nil
}

// checkContained refuses constraints that are not valid together with the queries in them, and constraints
// that contain their own query. The caller must hold the lock of the tenant's queries.
func checkContained(ctx context.Context, tx pgx.Tx, q *storedQuery) error {
	contained, err := loadContained(ctx, tx, q.GetConstraints())
	if err != nil {
		return err
	}
	if _, cycle := contained[q.GetId()]; cycle && q.Id != nil {
		return fault.Invalid(CodeCycle, fmt.Sprintf("The query %q must not contain itself, directly or through other queries.", q.GetName()))
	}
	_, err = query.ParseOn(q.GetConstraints(), civil.Range{}, contained)
	return err
}

// checkContaining refuses a changed query if a query that contains it, directly or through others, is no
// longer valid. The caller must hold the lock of the tenant's queries.
func checkContaining(ctx context.Context, tx pgx.Tx, id int64) error {
	users, err := pg.Collect(ctx, tx, scan, `WITH RECURSIVE users (id) AS (
			SELECT query_id FROM hyperfind_query_contained WHERE tenant_id = $1 AND contained_id = $2
			UNION SELECT c.query_id FROM users u JOIN hyperfind_query_contained c ON c.tenant_id = $1 AND c.contained_id = u.id)
		SELECT `+columns+` FROM hyperfind_query WHERE tenant_id = $1 AND id IN (SELECT id FROM users) ORDER BY id`, tenant.Of(ctx), id)
	if err != nil || len(users) == 0 {
		return err
	}
	var constraints []*commonsv1.HyperfindConstraints
	for _, user := range users {
		constraints = append(constraints, user.GetConstraints())
	}
	contained, err := loadContained(ctx, tx, constraints...)
	if err != nil {
		return err
	}
	for _, user := range users {
		if _, err := query.ParseOn(user.GetConstraints(), civil.Range{}, contained); err != nil {
			return fault.Invalid(CodeInUse, fmt.Sprintf("%s contains the query, and would break a limit: %s",
				user.describe(ctx), fault.FromError(err).Message))
		}
	}
	return nil
}

// checkNotContained returns an error if other queries contain a query: any, or, with an owner, public
// queries and queries of other users. The caller must hold the lock of the tenant's queries.
func checkNotContained(ctx context.Context, tx pgx.Tx, q *storedQuery, owner *string) error {
	users, err := pg.Collect(ctx, tx, scan, `SELECT `+columns+` FROM hyperfind_query WHERE tenant_id = $1
		AND id IN (SELECT query_id FROM hyperfind_query_contained WHERE tenant_id = $1 AND contained_id = $2)
		AND ($3::text IS NULL OR public OR owner <> $3) ORDER BY public DESC, name LIMIT $4`, tenant.Of(ctx), q.GetId(), owner, namedUsers)
	if err != nil || len(users) == 0 {
		return err
	}
	var names []string
	for _, user := range users {
		names = append(names, user.describe(ctx))
	}
	return fault.Invalid(CodeInUse, fmt.Sprintf("Other queries contain the hyperfind query %q, such as %s. Change them first.",
		q.GetName(), strings.Join(names, ", ")))
}

// describe names a query in errors. The names of personal queries of other users are not shown.
func (q *storedQuery) describe(ctx context.Context) string {
	if q.public || q.owner == query.Caller(ctx) {
		return strconv.Quote(q.GetName())
	}
	return fmt.Sprintf("a personal query of %q", q.owner)
}

// storeContained replaces the stored list of the queries that a query contains.
func storeContained(ctx context.Context, tx pgx.Tx, id int64, constraints *commonsv1.HyperfindConstraints) error {
	ids := []int64{}
	for _, ref := range query.ContainedRefs(constraints) {
		ids = append(ids, ref.GetId())
	}
	batch := &pgx.Batch{}
	batch.Queue(`DELETE FROM hyperfind_query_contained WHERE tenant_id = $1 AND query_id = $2`, tenant.Of(ctx), id)
	batch.Queue(`INSERT INTO hyperfind_query_contained (tenant_id, query_id, contained_id) SELECT DISTINCT $1::bigint, $2::bigint, unnest($3::bigint[])`,
		tenant.Of(ctx), id, ids)
	return tx.SendBatch(ctx, batch).Close()
}

// nameContained writes the present names of contained queries into the constraints of responses.
func nameContained(ctx context.Context, db pg.Querier, queries ...*commonsv1.HyperfindQuery) error {
	refs := map[int64][]*commonv1.Ref{}
	var ids []int64
	for _, q := range queries {
		for _, ref := range query.ContainedRefs(q.GetConstraints()) {
			ids = append(ids, ref.GetId())
			refs[ref.GetId()] = append(refs[ref.GetId()], ref)
		}
	}
	found, err := byIDs(ctx, db, ids)
	for _, q := range found {
		for _, ref := range refs[q.GetId()] {
			ref.Qualifier = q.Name
		}
	}
	return err
}
