package application

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/candidate"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// show returns the applications of records with the properties of the objects that they refer to.
func show(ctx context.Context, db pg.Querier, list ...*record.Record[*application]) ([]*application, error) {
	var candidates, sources []string
	for _, r := range list {
		if r.Deleted {
			continue
		}
		candidates = append(candidates, r.Body.GetCandidate().GetId())
		if source := r.Body.GetApplicantSource(); source != nil {
			sources = append(sources, source.GetId())
		}
	}
	known, err := readCandidates(ctx, db, candidates)
	if err != nil {
		return nil, err
	}
	names, err := readNames(ctx, db, "applicant_source", sources)
	if err != nil {
		return nil, err
	}
	if err := addSteps(ctx, db, names); err != nil {
		return nil, err
	}
	out := make([]*application, len(list))
	for i, r := range list {
		a := r.Show()
		out[i] = a
		if r.Deleted {
			continue
		}
		if c := known[a.GetCandidate().GetId()]; c != nil {
			a.Candidate.IsInternal, a.Candidate.IsActive, a.Candidate.Name = proto.Bool(c.GetIsInternal()), c.IsActive, c.GetName()
			a.Candidate.ContactInfo = &recruitingv1.CandidateContact{Email: c.GetContactInfo().GetEmail()}
			a.Behaviors, a.Educations, a.Motivations = c.GetBehaviors(), c.GetEducations(), c.GetMotivations()
			a.Licenses, a.Skills, a.WorkExperience = c.GetLicenses(), c.GetSkills(), c.GetWorkExperience()
		}
		name(names, a.GetApplicantSource(), a.GetStep())
		self := "/v1/recruiting/applications/" + r.ID
		a.Links = []*recruitingv1.Link{{Href: self, Rel: "self"}}
		for _, rel := range []string{"documents", "comments", "disposition-events"} {
			a.Links = append(a.Links, &recruitingv1.Link{Href: self + "/" + rel, Rel: rel})
		}
	}
	return out, nil
}

// readCandidates returns the candidates with these ids that are not erased, with their lists.
func readCandidates(ctx context.Context, db pg.Querier, ids []string) (map[string]*recruitingv1.Candidate, error) {
	out := map[string]*recruitingv1.Candidate{}
	if len(ids) == 0 {
		return out, nil
	}
	batch := &pgx.Batch{}
	batch.Queue(`SELECT id::text, body FROM candidate WHERE tenant_id = $1 AND id = ANY($2::uuid[]) AND NOT deleted`, tenant.Of(ctx), ids).Query(func(rows pgx.Rows) error {
		var id string
		var body []byte
		_, err := pgx.ForEachRow(rows, []any{&id, &body}, func() error {
			c := &recruitingv1.Candidate{}
			out[id] = c
			return proto.Unmarshal(body, c)
		})
		return err
	})
	candidate.QueueProfiles(ctx, batch, ids, out)
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("read candidates of applications: %w", err)
	}
	return out, nil
}

// readNames returns the names of the objects with GUIDs in a table of the configuration, by their GUIDs.
func readNames(ctx context.Context, db pg.Querier, table string, guids []string) (map[string]string, error) {
	out := map[string]string{}
	if len(guids) == 0 {
		return out, nil
	}
	var id, name string
	err := pg.ForEach(ctx, db, []any{&id, &name}, func() error {
		out[id] = name
		return nil
	}, `SELECT guid::text, name FROM `+table+` WHERE tenant_id = $1 AND guid = ANY($2::uuid[])`, tenant.Of(ctx), guids)
	if err != nil {
		return nil, fmt.Errorf("read names in %s: %w", table, err)
	}
	return out, nil
}

// addSteps adds the names of all steps, by their GUIDs.
func addSteps(ctx context.Context, db pg.Querier, names map[string]string) error {
	processes, err := configuration.RecruitingProcess.All(ctx, db)
	for _, process := range processes {
		for _, step := range process.GetSteps() {
			names[step.GetId()] = step.GetName()
		}
	}
	return err
}

// name writes names into references.
func name(names map[string]string, refs ...*ref) {
	for _, to := range refs {
		if to != nil {
			to.Name = names[to.GetId()]
		}
	}
}
