package candidate

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// commons is a connection to a commons that has the persons below 1,000.
type commons struct{ grpc.ClientConnInterface }

func (commons) Invoke(_ context.Context, _ string, request, response any, _ ...grpc.CallOption) error {
	switch request := request.(type) {
	case *commonsv1.ResolvePersonsRequest:
		for _, id := range request.GetIds() {
			if id < 1000 {
				out := response.(*commonsv1.ResolvePersonsResponse)
				out.Persons = append(out.Persons, &commonsv1.PersonState{PersonId: id})
			}
		}
	case *commonsv1.ResolveContactsRequest:
		for _, id := range request.GetIds() {
			out := response.(*commonsv1.ResolveContactsResponse)
			out.Persons = append(out.Persons, &commonsv1.Contact{PersonId: id, UserName: fmt.Sprint("user", id)})
		}
	}
	return nil
}

type fixture struct {
	*Handler
	t   *testing.T
	ctx context.Context
}

func newFixture(t *testing.T, visible ...Condition) fixture {
	t.Helper()
	return fixture{New(pooltest.New(t), commons{}, visible...), t, tenant.With(t.Context(), 1)}
}

// as returns the context of a caller whose rows are restricted.
func (f fixture) as(person int64) context.Context {
	return authn.With(f.ctx, &authn.Principal{Tenant: 1, Subject: "a", PersonID: person, Rows: "own"}, "")
}

// ada returns a candidate that may be created.
func ada(email string) *candidate {
	return &candidate{
		Name:        &recruitingv1.CandidateName{First: " Ada ", Last: "Moreno"},
		ContactInfo: &recruitingv1.CandidateContact{Email: email},
	}
}

func (f fixture) create(ctx context.Context, c *candidate) *candidate {
	f.t.Helper()
	out, err := f.CreateCandidate(ctx, c)
	require.NoError(f.t, err)
	return out
}

func TestACandidateIsCreated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := ada("Ada@example.test")
	c.Name.Prefix = &recruitingv1.Ref{Name: "dr."}
	c.PersonId = record.PersonGUID(7)
	c.Id, c.IsDeleted, c.Links = "x", true, []*recruitingv1.Link{{}}
	created := f.create(f.ctx, c)
	assert.Equal(t, "Ada", created.GetName().GetFirst())
	assert.Equal(t, "Dr.", created.GetName().GetPrefix().GetName())
	assert.NotEmpty(t, created.GetName().GetPrefix().GetId())
	assert.True(t, created.GetIsActive())
	assert.True(t, created.GetIsInternal())
	assert.False(t, created.GetIsWillingToRelocate())
	assert.False(t, created.GetIsDeleted())
	assert.Equal(t, "/v1/recruiting/candidates/"+created.GetId(), created.GetLinks()[0].GetHref())
	read, err := f.GetCandidate(f.ctx, &byID{Id: created.GetId()})
	require.NoError(t, err)
	assert.True(t, proto.Equal(created, read))
	list, err := f.ListCandidates(f.ctx, &recruitingv1.ListCandidatesRequest{})
	require.NoError(t, err)
	require.Len(t, list.GetItems(), 1)
	assert.True(t, proto.Equal(created, list.GetItems()[0]))
	_, err = f.GetCandidate(tenant.With(t.Context(), 2), &byID{Id: created.GetId()})
	require.True(t, fault.HasStatus(err, 404), "%v", err)
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := ada("Ada@example.test")
	first.PersonId = record.PersonGUID(7)
	f.create(f.ctx, first)
	for _, c := range []struct {
		name, member, code string
		change             func(*candidate)
	}{
		{"no first name", "name.first", CodeMissing, func(c *candidate) { c.Name.First = " " }},
		{"no name", "name.first", CodeMissing, func(c *candidate) { c.Name = nil }},
		{"no last name", "name.last", CodeMissing, func(c *candidate) { c.Name.Last = "" }},
		{"no address", "contact_info.email", CodeMissing, func(c *candidate) { c.ContactInfo = nil }},
		{"another text", "contact_info.email", CodeInvalid, func(c *candidate) { c.ContactInfo.Email = "ada" }},
		{"a short postal code", "contact_info.address.postal_code", CodeInvalid, func(c *candidate) { c.ContactInfo.Address = &recruitingv1.CandidateAddress{PostalCode: "50"} }},
		{"an unknown role", "roles[1]", CodeInvalid, func(c *candidate) { c.Roles = []string{"recruiter", "owner"} }},
		{"a script as an address", "hyperlinks[0].url", CodeInvalid, func(c *candidate) { c.Hyperlinks = []*recruitingv1.CandidateHyperlink{{Url: "javascript:alert(1)"}} }},
		{"an unknown person", "person_id", record.CodePersonUnknown, func(c *candidate) { c.PersonId = record.PersonGUID(1000) }},
		{"an unknown prefix", "name.prefix", "WRL-50104", func(c *candidate) { c.Name.Prefix = &recruitingv1.Ref{Name: "x"} }},
		{"an unknown suffix", "name.suffix", "WRL-50104", func(c *candidate) { c.Name.Suffix = &recruitingv1.Ref{Name: "x"} }},
		{"an address twice", "contact_info.email", CodeEmailTaken, func(c *candidate) { c.ContactInfo.Email = "ADA@example.test" }},
		{"a person twice", "person_id", CodePersonTaken, func(c *candidate) { c.PersonId = record.PersonGUID(7) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := ada("other@example.test")
			c.change(refused)
			_, err := f.CreateCandidate(f.ctx, refused)
			require.True(t, fault.HasCode(err, c.code), "%v", err)
			assert.Equal(t, []string{c.member}, fault.FromError(err).Members)
		})
	}
}

func TestRestrictedCallersSeeTheirCandidates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(context.Context) record.Condition {
		return record.Condition{SQL: "r.email = @shared", Args: pgx.NamedArgs{"shared": "shared@example.test"}}
	})
	mine := f.create(f.as(7), ada("mine@example.test"))
	shared := f.create(f.ctx, ada("shared@example.test"))
	other := f.create(f.as(8), ada("other@example.test"))
	for name, c := range map[string]struct {
		ctx  context.Context
		sees []*candidate
		not  []*candidate
	}{
		"all":        {f.ctx, []*candidate{mine, shared, other}, nil},
		"a creator":  {f.as(7), []*candidate{mine, shared}, []*candidate{other}},
		"no creator": {f.as(9), []*candidate{shared}, []*candidate{mine, other}},
		"no person":  {f.as(0), []*candidate{shared}, []*candidate{mine, other}},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := f.ListCandidates(c.ctx, &recruitingv1.ListCandidatesRequest{})
			require.NoError(t, err)
			assert.Len(t, list.GetItems(), len(c.sees))
			for _, visible := range c.sees {
				_, err := f.GetCandidate(c.ctx, &byID{Id: visible.GetId()})
				require.NoError(t, err)
			}
			for _, hidden := range c.not {
				_, err := f.GetCandidate(c.ctx, &byID{Id: hidden.GetId()})
				require.True(t, fault.HasCode(err, CodeUnknown), "%v", err)
			}
		})
	}
}
