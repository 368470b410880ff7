package personpay_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/personpay"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// One person of two tenants changes the primary job, and has wages of jobs.
func TestReadPersonPay(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	monday := civil.Date(20_000)
	person, err := proto.Marshal(&commonsv1.Person{PersonInformation: &commonsv1.PersonInformation{Person: &commonsv1.PersonDetails{
		AccrualProfileName: "Full time", AccrualProfileEffectiveDate: (monday + 5).String(),
	}}})
	require.NoError(t, err)
	for tenantID := int64(1); tenantID <= 2; tenantID++ {
		ctx := tenant.With(t.Context(), tenantID)
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, hire_date, body) VALUES ($1, 7, '7', 'Seven', 'UTC', $2, $3)`,
			tenantID, monday-10, person)
		batch.Queue(`INSERT INTO base_wage_rate VALUES ($1, 7, $2, $3, 20.5)`, tenantID, monday-10, civil.Forever)
		batch.Queue(`INSERT INTO wage_work_rule VALUES ($1, 7, 'A/D', $2, $3, 30, ''), ($1, 7, 'A/E', $2, $3, NULL, 'Night')`, tenantID, monday, monday+5)
		batch.Queue(`INSERT INTO primary_labor_account VALUES ($1, 7, $2, $3, 'A/B', '')`, tenantID, monday-10, monday+2)
		batch.Queue(`INSERT INTO primary_labor_account VALUES ($1, 7, $2, $3, 'A/C', '')`, tenantID, monday+2, civil.Forever)
		batch.Queue(`INSERT INTO pay_rule_assignment (tenant_id, person_id, from_date, to_date, pay_rule_name) VALUES ($1, 7, $2, $3, 'Full time')`,
			tenantID, monday-10, civil.Forever)
		batch.Queue(`INSERT INTO accrual_profile_assignment (tenant_id, person_id, from_date, to_date, accrual_profile_name) VALUES ($1, 7, $2, $3, 'Part time')`,
			tenantID, monday-20, civil.Forever)
		batch.Queue(`INSERT INTO employment_status VALUES ($1, 7, $2, $3, 'Active'), ($1, 7, $3, $4, 'Terminated'), ($1, 7, $4, $5, 'Inactive')`,
			tenantID, monday-10, monday+20, monday+30, civil.Forever)
		require.NoError(t, pool.SendBatch(ctx, batch).Close())
	}
	day := func(d civil.Date) int32 { return int32(d) }
	text := func(from, to civil.Date, text string) *commonsv1.PersonDayText {
		return &commonsv1.PersonDayText{From: day(from), To: day(to), Text: text}
	}
	got, err := personpay.New(pool).ReadPersonPay(tenant.With(t.Context(), 1), &commonsv1.ReadPersonPayRequest{
		PersonIds: []int64{8, 7}, From: day(monday), To: day(monday + 8),
	})
	require.NoError(t, err)
	want := &commonsv1.ReadPersonPayResponse{Persons: []*commonsv1.PersonPay{{
		PersonId:    7,
		PrimaryJobs: []*commonsv1.PersonDayText{text(monday-10, monday+2, "A/B"), text(monday+2, civil.Forever, "A/C")},
		PayRules:    []*commonsv1.PersonDayText{text(monday-10, civil.Forever, "Full time")},
	}}}
	assert.True(t, proto.Equal(want, got), "%v\n%v", want, got)

	got, err = personpay.New(pool).ReadPersonPay(tenant.With(t.Context(), 1), &commonsv1.ReadPersonPayRequest{
		PersonIds: []int64{8, 7}, From: day(monday), To: day(monday + 1), AccrualProfile: true, Wages: true,
	})
	require.NoError(t, err)
	require.Len(t, got.GetPersons()[0].GetAccrualProfiles(), 2, "%v", got)
	assert.True(t, proto.Equal(text(monday-10, monday+5, "Part time"), got.GetPersons()[0].GetAccrualProfiles()[0]), "from the hire date on: %v", got)
	assert.True(t, proto.Equal(text(monday+5, civil.Forever, "Full time"), got.GetPersons()[0].GetAccrualProfiles()[1]), "written by a program of the release before: %v", got)
	assert.True(t, proto.Equal(&commonsv1.PersonPay{Terminated: []*commonsv1.PersonDayRange{{From: day(monday + 20), To: day(monday + 30)}}},
		&commonsv1.PersonPay{Terminated: got.GetPersons()[0].GetTerminated()}), "%v", got.GetPersons()[0].GetTerminated())
	wages := &commonsv1.PersonPay{Wages: []*commonsv1.PersonWage{
		{From: day(monday - 10), To: day(civil.Forever), HourlyRate: 20.5}, {From: day(monday), To: day(monday + 5), Job: "A/D", HourlyRate: 30},
	}}
	assert.True(t, proto.Equal(wages, &commonsv1.PersonPay{Wages: got.GetPersons()[0].GetWages()}), "%v", got.GetPersons()[0].GetWages())

	_, err = personpay.New(pool).ReadPersonPay(tenant.With(t.Context(), 1), &commonsv1.ReadPersonPayRequest{
		PersonIds: []int64{7}, From: day(monday), To: day(monday + 401),
	})
	require.ErrorContains(t, err, "400")
}
