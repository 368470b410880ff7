package recruiting

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// applications is the number of applications, each of another candidate.
const applications = 100_000

// storeApplications creates one application through the API, and stores the others as copies of its rows. It returns
// the id of the tenant.
func storeApplications(ctx context.Context, api scenario.API, conn *pgx.Conn) (tenant int64, err error) {
	create := func(list string, body scenario.Object) (id string, err error) {
		var made struct{ ID string }
		_, err = api.Call(ctx, http.MethodPost, "/v1/recruiting/"+list, body, &made)
		return made.ID, err
	}
	candidate, err := create("candidates", scenario.Object{
		"name": scenario.Object{"first": "Ada", "last": "Moreno"}, "contact_info": scenario.Object{"email": "ada@example.test", "phone": scenario.Object{"primary": "5155550102"}},
	})
	if err != nil {
		return 0, err
	}
	opportunity, err := create("opportunities", scenario.Object{"title": scenario.Object{"en_us": "Nurse"}, "recruiting_process": scenario.Object{"name": "Standard"}})
	if err != nil {
		return 0, err
	}
	application, err := create("applications", scenario.Object{
		"candidate": scenario.Object{"id": candidate}, "opportunity": scenario.Object{"id": opportunity}, "creation_method": "CandidateImport",
		"hire_details": scenario.Object{"start_date": "2026-06-01"},
	})
	if err != nil {
		return 0, err
	}
	var body, candidateBody []byte
	var last int64
	err = conn.QueryRow(ctx, `SELECT a.tenant_id, a.body, a.changed, c.body FROM application a JOIN candidate c ON c.tenant_id = a.tenant_id AND c.id = a.candidate_id WHERE a.id = $1`, application).
		Scan(&tenant, &body, &last, &candidateBody)
	if err != nil {
		return 0, err
	}
	var candidates, copies [][]any
	for i := range int64(applications - 1) {
		a, id := &recruitingv1.Application{}, uuid.New()
		if err := proto.Unmarshal(body, a); err != nil {
			return 0, err
		}
		a.Candidate.Id = id.String()
		changed, err := proto.Marshal(a)
		if err != nil {
			return 0, err
		}
		candidates = append(candidates, []any{tenant, id, last + 2*i + 1, candidateBody, fmt.Sprintf("c%d@example.test", i)})
		copies = append(copies, []any{tenant, uuid.New(), last + 2*i + 2, changed, id, opportunity})
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"candidate"}, []string{"tenant_id", "id", "changed", "body", "email"}, pgx.CopyFromRows(candidates)); err != nil {
		return 0, err
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"application"}, []string{"tenant_id", "id", "changed", "body", "candidate_id", "opportunity_id"}, pgx.CopyFromRows(copies)); err != nil {
		return 0, err
	}
	_, err = conn.Exec(ctx, `VACUUM ANALYZE candidate, application`)
	return tenant, err
}
