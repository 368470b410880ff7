package personpay

import (
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
)

const (
	readPersons = `SELECT id, hire_date, body FROM person WHERE tenant_id = $1 AND id = ANY($2)`

	readAccrualProfiles = `
SELECT person_id, from_date, to_date, accrual_profile_name FROM accrual_profile_assignment
WHERE tenant_id = $1 AND person_id = ANY($2) ORDER BY person_id, from_date`

	readTerminated = `
SELECT person_id, from_date, to_date FROM employment_status
WHERE tenant_id = $1 AND person_id = ANY($2) AND status = $3 ORDER BY person_id, from_date`
)

// readWages reads the wage of a job under every path that names the job's location on the days, because
// timecards keep the paths that were entered. Rules without a rate only set a work rule.
var readWages = `
SELECT person_id, '' AS job, from_date, to_date, hourly_rate FROM base_wage_rate WHERE tenant_id = $1 AND person_id = ANY($2)
UNION ALL
SELECT w.person_id, n.path, greatest(w.from_date, n.from_date), least(w.to_date, n.to_date), w.hourly_rate FROM wage_work_rule w
CROSS JOIN LATERAL (
    SELECT w.organization_path AS path, w.from_date, w.to_date
    UNION SELECT named.path, greatest(named.from_date, held.from_date, w.from_date), least(named.to_date, held.to_date, w.to_date)
    FROM ` + locationpath.HoldersSQL("$1", "w.organization_path", "w.to_date") + ` AS held
    CROSS JOIN LATERAL ` + locationpath.NamesSQL("$1", "held.location_id", "least(held.to_date, w.to_date)") + ` AS named
    WHERE held.to_date > w.from_date AND named.to_date > greatest(held.from_date, w.from_date) AND named.path <> w.organization_path
) AS n
WHERE w.tenant_id = $1 AND w.person_id = ANY($2) AND w.hourly_rate IS NOT NULL
ORDER BY 1, 2, 3`

// persons returns the message of a person, so that readers can add data to it.
type persons func(id int64) *commonsv1.PersonPay

// bodies are the bodies of persons, with their accrual profiles.
type bodies map[int64]*record.Record

func (b bodies) scanPersons(rows pgx.Rows) error {
	for rows.Next() {
		var id int64
		var hired *civil.Date
		var body []byte
		if err := rows.Scan(&id, &hired, &body); err != nil {
			return err
		}
		r := &record.Record{Message: &commonsv1.Person{}}
		if err := proto.Unmarshal(body, r.Message); err != nil {
			return err
		}
		if details := r.Details(); details != nil && hired != nil {
			details.HireDate = hired.String()
		}
		b[id] = r
	}
	return rows.Err()
}

func (b bodies) scanAccrualProfiles(rows pgx.Rows) error {
	for rows.Next() {
		var id int64
		var days civil.Range
		var name string
		if err := rows.Scan(&id, &days.From, &days.To, &name); err != nil {
			return err
		}
		if r := b[id]; r != nil {
			r.AccrualProfiles = append(r.AccrualProfiles, &commonsv1.ExtensionAccrualProfile{
				AccrualProfileName: name, EffectiveDate: days.From.String(), ExpirationDate: days.To.String(),
			})
		}
	}
	return rows.Err()
}

// addTo adds the accrual profiles to the persons. They begin with the hire date at the earliest; a profile
// whose first day is unknown is left out.
func (b bodies) addTo(of persons) {
	for id, r := range b {
		hired, err := civil.ParseDate(r.Details().GetHireDate())
		if err != nil {
			hired = civil.Beginning
		}
		r.AdoptAccrualProfile()
		for _, profile := range r.AccrualProfiles {
			days := record.CheckedRange(record.EffectiveDates(profile))
			days.From = max(days.From, hired)
			if days.Empty() || days.From <= civil.Beginning {
				continue
			}
			e := of(id)
			e.AccrualProfiles = append(e.AccrualProfiles, &commonsv1.PersonDayText{From: int32(days.From), To: int32(days.To), Text: profile.GetAccrualProfileName()})
		}
	}
}

func scanTerminated(rows pgx.Rows, of persons) error {
	for rows.Next() {
		var id int64
		days := &commonsv1.PersonDayRange{}
		if err := rows.Scan(&id, (*civil.Date)(&days.From), (*civil.Date)(&days.To)); err != nil {
			return err
		}
		e := of(id)
		e.Terminated = append(e.Terminated, days)
	}
	return rows.Err()
}

func scanWages(rows pgx.Rows, of persons) error {
	for rows.Next() {
		var id int64
		wage := &commonsv1.PersonWage{}
		if err := rows.Scan(&id, &wage.Job, (*civil.Date)(&wage.From), (*civil.Date)(&wage.To), &wage.HourlyRate); err != nil {
			return err
		}
		e := of(id)
		e.Wages = append(e.Wages, wage)
	}
	return rows.Err()
}
