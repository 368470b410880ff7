package candidate

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func monthIn(year, month int32) *monthOfYear {
	return &monthOfYear{Year: proto.Int32(year), Month: proto.Int32(month)}
}

func newSkill(name string) *skill {
	return &skill{Skill: &recruitingv1.CandidateSkillName{Name: name}}
}

// giveBehavior creates a behavior of the configuration.
func (f fixture) giveBehavior(name string) {
	f.t.Helper()
	_, err := configuration.NewItems(f.pool).CreateBehavior(f.ctx, &recruitingv1.ConfigurationItem{Name: name})
	require.NoError(f.t, err)
}

func TestACandidateHasLists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.giveBehavior("Calm")
	sent := ada("ada@example.test")
	sent.Skills = []*skill{newSkill("Triage"), newSkill("Care")}
	sent.Skills[1].ProficiencyLevel = &recruitingv1.CandidateProficiency{Name: "Expert"}
	sent.Behaviors = []*behavior{{Name: "calm"}}
	sent.WorkExperience = []*employment{{JobTitle: "Cook", From: monthIn(2020, 2), To: monthIn(2020, 3)}}
	created := f.create(f.ctx, sent)
	require.Len(t, created.GetSkills(), 2)
	assert.Equal(t, "Triage", created.GetSkills()[0].GetSkill().GetName())
	assert.EqualValues(t, 5, created.GetSkills()[1].GetProficiencyLevel().GetOrdinalValue())
	assert.Equal(t, "Calm", created.GetBehaviors()[0].GetName())

	added, err := f.CreateCandidateEducation(f.ctx, &recruitingv1.CreateCandidateEducationRequest{Id: created.GetId(), Body: &education{School: "Ames"}})
	require.NoError(t, err)
	_, err = f.CreateCandidateComment(f.as(7), &recruitingv1.CreateCandidateCommentRequest{Id: created.GetId(), Body: &comment{Comment: "x"}})
	require.True(t, fault.HasCode(err, CodeUnknown), "a caller that does not see the candidate: %v", err)
	read, err := f.GetCandidate(f.ctx, &byID{Id: created.GetId()})
	require.NoError(t, err)
	assert.Greater(t, read.GetUpdatedAt(), created.GetUpdatedAt())
	require.Len(t, read.GetEducations(), 1)
	assert.True(t, proto.Equal(added, read.GetEducations()[0]))
	assert.Len(t, read.GetSkills(), 2)
	items, err := f.ListCandidateSkills(f.ctx, &byID{Id: created.GetId()})
	require.NoError(t, err)
	assert.Equal(t, created.GetSkills()[1].GetId(), items.GetItems()[1].GetId())
}

func TestCommentsHaveAuthors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(f.as(7), ada("ada@example.test")).GetId()
	add := func(ctx context.Context, c *comment) (*comment, error) {
		return f.CreateCandidateComment(ctx, &recruitingv1.CreateCandidateCommentRequest{Id: id, Body: c})
	}
	own, err := add(f.as(7), &comment{Comment: "Good", IsImportant: proto.Bool(true)})
	require.NoError(t, err)
	assert.Equal(t, record.PersonGUID(7), own.GetAuthor().GetId())
	assert.NotEmpty(t, own.GetCreatedAt())
	of8, err := add(f.ctx, &comment{Comment: "Better", Author: &recruitingv1.IdRef{Id: record.PersonGUID(8)}})
	require.NoError(t, err)
	_, err = add(f.ctx, &comment{Comment: "Bad", Author: &recruitingv1.IdRef{Id: record.PersonGUID(1000)}})
	require.True(t, fault.HasCode(err, record.CodePersonUnknown), "%v", err)
	items, err := f.ListCandidateComments(f.ctx, &byID{Id: id})
	require.NoError(t, err)
	require.Len(t, items.GetItems(), 2)
	assert.True(t, proto.Equal(own, items.GetItems()[0]))
	assert.Equal(t, of8.GetId(), items.GetItems()[1].GetId())
}

func TestReferencesAreReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, other := f.create(f.ctx, ada("ada@example.test")).GetId(), f.create(f.ctx, ada("bo@example.test")).GetId()
	added, err := f.CreateCandidateReference(f.ctx, &recruitingv1.CreateCandidateReferenceRequest{Id: id, Body: &reference{Id: "x", Name: "Cy"}})
	require.NoError(t, err)
	replaced, err := f.UpdateCandidateReference(f.ctx, &recruitingv1.UpdateCandidateReferenceRequest{Id: id, ReferenceId: added.GetId(), Body: &reference{Name: "Di"}})
	require.NoError(t, err)
	assert.Equal(t, added.GetId(), replaced.GetId())
	assert.Greater(t, replaced.GetUpdatedAt(), added.GetUpdatedAt())
	read, err := f.GetCandidateReference(f.ctx, &recruitingv1.GetCandidateReferenceRequest{Id: id, ReferenceId: added.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(replaced, read))
	_, err = f.GetCandidateReference(f.ctx, &recruitingv1.GetCandidateReferenceRequest{Id: other, ReferenceId: added.GetId()})
	require.True(t, fault.HasCode(err, CodeItemUnknown), "%v", err)
	_, err = f.UpdateCandidateReference(f.ctx, &recruitingv1.UpdateCandidateReferenceRequest{Id: other, ReferenceId: added.GetId(), Body: &reference{Name: "Di"}})
	require.True(t, fault.HasCode(err, CodeItemUnknown), "%v", err)
}

func TestListsRefuse(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.giveBehavior("Calm")
	id := f.create(f.ctx, ada("ada@example.test")).GetId()
	for _, c := range []struct {
		name, member, code string
		change             func(*candidate)
	}{
		{"a skill twice", "skills[1]", CodeItemTaken, func(c *candidate) { c.Skills = []*skill{newSkill("Triage"), newSkill("triage ")} }},
		{"a skill without a name", "skills[0].skill.name", CodeMissing, func(c *candidate) { c.Skills = []*skill{{}} }},
		{"an unknown level", "skills[0].proficiency_level", configuration.CodeUnknown, func(c *candidate) {
			c.Skills = []*skill{newSkill("Triage")}
			c.Skills[0].ProficiencyLevel = &recruitingv1.CandidateProficiency{Name: "x"}
		}},
		{"a behavior twice", "behaviors[1]", CodeItemTaken, func(c *candidate) { c.Behaviors = []*behavior{{Name: "Calm"}, {Name: "Calm"}} }},
		{"no behavior", "behaviors[0].id", CodeMissing, func(c *candidate) { c.Behaviors = []*behavior{{}} }},
		{"an unknown motivation", "motivations[0].id", configuration.CodeUnknown, func(c *candidate) { c.Motivations = []*motivation{{Name: "x"}} }},
		{"no school", "educations[0].school", CodeMissing, func(c *candidate) { c.Educations = []*education{{Major: "x"}} }},
		{"a period that ends before it begins", "educations[0].to", CodeInvalid, func(c *candidate) {
			c.Educations = []*education{{School: "x", From: monthIn(2020, 3), To: monthIn(2020, 2)}}
		}},
		{"years that end before they begin", "work_experience[0].to", CodeInvalid, func(c *candidate) {
			c.WorkExperience = []*employment{{JobTitle: "x", From: monthIn(2021, 3), To: monthIn(2020, 4)}}
		}},
		{"a month without a year", "work_experience[0].from.year", CodeMissing, func(c *candidate) {
			c.WorkExperience = []*employment{{JobTitle: "x", From: &monthOfYear{Month: proto.Int32(2)}}}
		}},
		{"an end without a year", "work_experience[0].to.year", CodeMissing, func(c *candidate) { c.WorkExperience = []*employment{{JobTitle: "x", To: &monthOfYear{}}} }},
		{"no job title", "work_experience[0].job_title", CodeMissing, func(c *candidate) { c.WorkExperience = []*employment{{}} }},
		{"no license", "licenses[0].license.name", CodeMissing, func(c *candidate) { c.Licenses = []*license{{}} }},
		{"a renewal before the license", "licenses[0].renewal_date", CodeInvalid, func(c *candidate) {
			c.Licenses = []*license{{License: &recruitingv1.CandidateLicenseName{Name: "x"}, AchievedDate: "2020-02-02", RenewalDate: "2020-02-01"}}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := ada("other@example.test")
			c.change(refused)
			_, err := f.CreateCandidate(f.ctx, refused)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
	_, err := f.CreateCandidateReference(f.ctx, &recruitingv1.CreateCandidateReferenceRequest{Id: id, Body: &reference{Name: "x", Email: "x"}})
	assert.True(t, fault.HasCode(err, CodeInvalid), "%v", err)
	_, err = f.CreateCandidateComment(f.ctx, &recruitingv1.CreateCandidateCommentRequest{Id: id})
	assert.True(t, fault.HasCode(err, CodeMissing), "no body: %v", err)
}

func TestAListIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.create(f.ctx, ada("ada@example.test")).GetId()
	short := skills
	short.max = 2
	for n, full := range []bool{false, false, true} {
		_, err := short.add(f.ctx, f.Handler, id, newSkill(fmt.Sprint(n)))
		assert.Equal(t, full, fault.HasCode(err, CodeListFull), "%d: %v", n, err)
	}
	require.NoError(t, pg.InTx(f.ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error {
		items, err := skills.read(ctx, tx, id)
		assert.Len(t, items, 2)
		return err
	}))
}

func TestCandidatesAreLookedUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	sent := ada("Ada@example.test")
	sent.PersonId = record.PersonGUID(7)
	created := f.create(f.as(7), sent)
	external := f.create(f.ctx, ada("bo@example.test"))
	found := func(ctx context.Context, email string) int {
		list, err := f.LookUpCandidates(ctx, &recruitingv1.LookUpCandidatesRequest{Email: email})
		require.NoError(t, err)
		for _, c := range list.GetItems() {
			assert.Equal(t, created.GetId(), c.GetId())
			assert.Equal(t, created.GetLinks()[0].GetHref(), c.GetLinks()[0].GetHref())
		}
		return len(list.GetItems())
	}
	assert.Equal(t, 1, found(f.ctx, " ADA@example.test"))
	assert.Equal(t, 1, found(f.as(7), "ada@example.test"))
	assert.Zero(t, found(f.as(8), "ada@example.test"), "a caller that does not see the candidate")
	assert.Zero(t, found(f.ctx, "cy@example.test"))
	_, err := f.LookUpCandidates(f.ctx, &recruitingv1.LookUpCandidatesRequest{})
	require.True(t, fault.HasCode(err, CodeMissing), "%v", err)

	names, err := f.GetCandidateUserNameEmail(f.ctx, &byID{Id: created.GetId()})
	require.NoError(t, err)
	assert.Equal(t, "user7", names.GetUserName())
	assert.Equal(t, "Ada@example.test", names.GetEmail())
	names, err = f.GetCandidateUserNameEmail(f.ctx, &byID{Id: external.GetId()})
	require.NoError(t, err)
	assert.Empty(t, names.GetUserName())
}
