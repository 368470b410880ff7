package hyperfind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// maxProfiles limits the profiles of a tenant, and so the list of them.
const maxProfiles = 1000

// Profiles serves HyperfindProfileService.
type Profiles struct {
	commonsv1.UnsafeHyperfindProfileServiceServer

	pool *pg.Pool
}

var _ commonsv1.HyperfindProfileServiceServer = (*Profiles)(nil)

// NewProfiles returns the handler of profiles.
func NewProfiles(pool *pg.Pool) *Profiles { return &Profiles{pool: pool} }

// profiles returns the profiles with the ids, or all for nil, by name. Queries appear with
// their present names. A query that became personal is left out.
func profiles(ctx context.Context, db pg.Querier, ids []int64) ([]*commonsv1.HyperfindProfile, error) {
	var out []*commonsv1.HyperfindProfile
	var id int64
	var name, description string
	var queryID *int64
	var queryName, queryDescription *string
	err := pg.ForEach(ctx, db, []any{&id, &name, &description, &queryID, &queryName, &queryDescription}, func() error {
		if len(out) == 0 || out[len(out)-1].GetId() != id {
			id, name, description := id, name, description
			out = append(out, &commonsv1.HyperfindProfile{Id: &id, Name: &name, Description: &description})
		}
		if queryID == nil {
			return nil
		}
		for _, q := range builtIn() {
			if q.GetId() == *queryID {
				queryName, queryDescription = q.Name, q.Description
			}
		}
		last := out[len(out)-1]
		last.HyperFindProfiles = append(last.HyperFindProfiles, &commonsv1.HyperfindProfileQuery{
			Id: queryID, Qualifier: queryName, LocalizedQualifier: queryName, Description: queryDescription,
		})
		queryID, queryName, queryDescription = nil, nil, nil
		return nil
	}, `SELECT p.id, p.name, p.description,
			CASE WHEN q.id IS NOT NULL OR l.query_id < $3 THEN l.query_id END, q.name, q.description
		FROM hyperfind_profile p
		LEFT JOIN hyperfind_profile_query l ON l.tenant_id = p.tenant_id AND l.profile_id = p.id
		LEFT JOIN hyperfind_query q ON q.tenant_id = l.tenant_id AND q.id = l.query_id AND q.public
		WHERE p.tenant_id = $1 AND ($2::bigint[] IS NULL OR p.id = ANY($2))
		ORDER BY p.name, p.id, l.position`, tenant.Of(ctx), ids, firstOwnID)
	return out, err
}

// ListHyperfindProfiles returns all profiles.
func (p *Profiles) ListHyperfindProfiles(ctx context.Context, _ *commonsv1.ListHyperfindProfilesRequest) (*commonsv1.HyperfindProfileList, error) {
	list, err := profiles(ctx, p.pool, nil)
	return &commonsv1.HyperfindProfileList{Profiles: list}, err
}

// GetHyperfindProfile returns one profile, or 404.
func (p *Profiles) GetHyperfindProfile(ctx context.Context, req *commonsv1.GetHyperfindProfileRequest) (*commonsv1.HyperfindProfile, error) {
	return profile(ctx, p.pool, req.GetId())
}

func profile(ctx context.Context, db pg.Querier, id int64) (*commonsv1.HyperfindProfile, error) {
	found, err := profiles(ctx, db, []int64{id})
	if err == nil && len(found) == 0 {
		err = noProfile(id)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

func noProfile(id int64) error {
	return fault.NotFound(CodeUnknownProfile, fmt.Sprintf("There is no hyperfind profile with the id %d.", id))
}

// MultiReadHyperfindProfiles returns profiles in the order of the request, with 207 if some
// are unknown.
func (p *Profiles) MultiReadHyperfindProfiles(ctx context.Context, req *commonsv1.MultiReadHyperfindProfilesRequest) (*commonsv1.HyperfindProfileList, error) {
	refs, err := structure.Refs("where", req.GetWhere())
	if err != nil {
		return nil, err
	}
	all, err := profiles(ctx, p.pool, nil)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, *commonsv1.HyperfindProfile]{}
	for _, ref := range refs {
		at := slices.IndexFunc(all, func(p *commonsv1.HyperfindProfile) bool { return isProfile(ref, p) })
		switch {
		case at < 0:
			out.Fail(ref, fault.Invalid(CodeUnknownProfile, fmt.Sprintf("There is no hyperfind profile with %s.", structure.Text(ref))))
		case !slices.ContainsFunc(req.GetExclusiveObjectRefList(), func(r *commonv1.Ref) bool { return isProfile(r, all[at]) }):
			out.Succeed(ref, all[at])
		}
	}
	if out.Failed() > 0 && out.Failed() == len(out.Results) {
		return nil, fault.NotFound(CodeNoProfiles, "There are no such hyperfind profiles.")
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, CodeSomeProfiles)
	return &commonsv1.HyperfindProfileList{Profiles: done, Failure: failure}, err
}

func isProfile(ref *commonv1.Ref, p *commonsv1.HyperfindProfile) bool {
	if ref.Id != nil {
		return p.GetId() == ref.GetId()
	}
	return p.GetName() == ref.GetQualifier()
}

// CreateHyperfindProfile stores a new profile.
func (p *Profiles) CreateHyperfindProfile(ctx context.Context, given *commonsv1.HyperfindProfile) (*commonsv1.HyperfindProfile, error) {
	if given.Id != nil {
		return nil, query.Invalid("id", "must not be sent with a new profile")
	}
	if err := checkProfile(given); err != nil {
		return nil, err
	}
	tenantID := tenant.Of(ctx)
	var created *commonsv1.HyperfindProfile
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		var there int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM hyperfind_profile WHERE tenant_id = $1`, tenantID).Scan(&there); err != nil {
			return err
		}
		if there >= maxProfiles {
			return fault.TooLarge(CodeFull, fmt.Sprintf("There are %d profiles, which is the limit. Delete unused ones first.", there)).
				WithLimits(int64(there)+1, maxProfiles)
		}
		var id int64
		if err := tx.QueryRow(ctx, `INSERT INTO hyperfind_profile (tenant_id, name, description) VALUES ($1, $2, $3) RETURNING id`,
			tenantID, given.GetName(), given.GetDescription()).Scan(&id); err != nil {
			return uniqueError(err)
		}
		audit.Object(ctx, id)
		var err error
		created, err = fill(ctx, tx, id, given.GetHyperFindProfiles())
		return err
	})
	return created, err
}

// UpdateHyperfindProfile replaces a profile, or returns 404.
func (p *Profiles) UpdateHyperfindProfile(ctx context.Context, req *commonsv1.UpdateHyperfindProfileRequest) (*commonsv1.HyperfindProfile, error) {
	given := req.GetProfile()
	if given.GetId() != 0 && given.GetId() != req.GetId() {
		return nil, query.Invalid("id", "is not the one in the path")
	}
	if err := checkProfile(given); err != nil {
		return nil, err
	}
	tenantID := tenant.Of(ctx)
	var updated *commonsv1.HyperfindProfile
	err := pg.InTx(ctx, p.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx); err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `UPDATE hyperfind_profile SET name = $3, description = $4, updated_at = now() WHERE tenant_id = $1 AND id = $2`,
			tenantID, req.GetId(), given.GetName(), given.GetDescription())
		if err == nil && tag.RowsAffected() == 0 {
			err = noProfile(req.GetId())
		}
		if err != nil {
			return uniqueError(err)
		}
		if _, err := tx.Exec(ctx, `DELETE FROM hyperfind_profile_query WHERE tenant_id = $1 AND profile_id = $2`, tenantID, req.GetId()); err != nil {
			return err
		}
		updated, err = fill(ctx, tx, req.GetId(), given.GetHyperFindProfiles())
		return err
	})
	return updated, err
}

// DeleteHyperfindProfile deletes a profile, or returns 404.
func (p *Profiles) DeleteHyperfindProfile(ctx context.Context, req *commonsv1.DeleteHyperfindProfileRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	err := pg.ExecOne(ctx, p.pool, `DELETE FROM hyperfind_profile WHERE tenant_id = $1 AND id = $2`, tenantID, req.GetId())
	if errors.Is(err, pgx.ErrNoRows) {
		err = noProfile(req.GetId())
	}
	return &emptypb.Empty{}, err
}

func checkProfile(given *commonsv1.HyperfindProfile) error {
	if err := structure.CheckName("name", given.GetName()); err != nil {
		return fault.Invalid(query.CodeQuery, fault.FromError(err).Message)
	}
	return nil
}

// fill stores the queries of an empty profile, each once, and returns the profile. A profile
// can contain public queries only.
func fill(ctx context.Context, tx pgx.Tx, id int64, queries []*commonsv1.HyperfindProfileQuery) (*commonsv1.HyperfindProfile, error) {
	known, err := list(ctx, tx, nil)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i, asked := range queries {
		ref := &commonv1.Ref{Id: asked.Id, Qualifier: asked.Qualifier}
		at := slices.IndexFunc(known, func(q *storedQuery) bool {
			return ref.Id != nil && q.GetId() == ref.GetId() || ref.Id == nil && q.GetName() == ref.GetQualifier()
		})
		if at < 0 {
			return nil, fault.Invalid(CodeUnknownQuery, fmt.Sprintf("hyperFindProfiles[%d]: there is no public hyperfind query with %s.", i, structure.Text(ref)))
		}
		if !slices.Contains(ids, known[at].GetId()) {
			ids = append(ids, known[at].GetId())
		}
	}
	if _, err := tx.Exec(ctx, `INSERT INTO hyperfind_profile_query (tenant_id, profile_id, position, query_id)
		SELECT $1, $2, l.position, l.query_id FROM unnest($3::bigint[]) WITH ORDINALITY AS l (query_id, position)`, tenant.Of(ctx), id, ids); err != nil {
		return nil, errors.Join(errors.New("hyperfind: store the queries of a profile"), err)
	}
	return profile(ctx, tx, id)
}
