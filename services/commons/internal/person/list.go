package person

import (
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// list is an effective-dated list of a person: where it is in the message, and
// the table that it is kept in.
type list struct {
	path, table string
	// single says that there is at most one element for a day.
	single bool
	// columns are those of an element's values.
	columns []column
	// elements answers the elements that a person has; add answers a new one;
	// clear removes them all.
	elements func(*commonsv1.Person) []element
	add      func(*commonsv1.Person) element
	clear    func(*commonsv1.Person)
}

// column is a column of a table and the type of its array.
type column struct{ name, array string }

// element is an element of a list: pointers into its message. Its effective
// date is included, its expiration excluded.
type element struct {
	effective, expiration *string
	// values are in the order of the columns: *string, *float64 or criteria.
	values []any
}

// lists are all effective-dated lists.
func lists() []list {
	return []list{
		listOf("personInformation.employmentStatusList", "employment_status", true,
			[]column{{"status", "text[]"}},
			func(p *commonsv1.Person) *[]*commonsv1.EmploymentStatus { return &information(p).EmploymentStatusList },
			func(s *commonsv1.EmploymentStatus) element {
				return element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.EmploymentStatusName}}
			}),
		listOf("personInformation.userAccountStatusList", "user_account_status", true,
			[]column{{"status", "text[]"}},
			func(p *commonsv1.Person) *[]*commonsv1.UserAccountStatus {
				return &information(p).UserAccountStatusList
			},
			func(s *commonsv1.UserAccountStatus) element {
				return element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.UserAccountStatusName}}
			}),
		listOf("personInformation.badgeAssignments", "badge_assignment", false,
			[]column{{"badge_number", "text[]"}},
			func(p *commonsv1.Person) *[]*commonsv1.BadgeAssignment { return &information(p).BadgeAssignments },
			func(b *commonsv1.BadgeAssignment) element {
				return element{&b.EffectiveDate, &b.ExpirationDate, []any{&b.BadgeNumber}}
			}),
		listOf("jobAssignment.primaryLaborAccounts", "primary_labor_account", true,
			[]column{{"organization_path", "text[]"}, {"labor_category_name", "text[]"}, {"path_criteria", "bytea[]"}},
			func(p *commonsv1.Person) *[]*commonsv1.PrimaryLaborAccount { return &job(p).PrimaryLaborAccounts },
			func(a *commonsv1.PrimaryLaborAccount) element {
				return element{&a.EffectiveDate, &a.ExpirationDate, []any{
					&a.OrganizationPath, &a.LaborCategoryName, criteria{&a.OrgPathByCriteria},
				}}
			}),
		listOf("jobAssignment.baseWageRates", "base_wage_rate", true,
			[]column{{"hourly_rate", "float8[]"}},
			func(p *commonsv1.Person) *[]*commonsv1.BaseWageRate { return &job(p).BaseWageRates },
			func(w *commonsv1.BaseWageRate) element {
				return element{&w.EffectiveDate, &w.ExpirationDate, []any{&w.HourlyRate}}
			}),
	}
}

// listOf makes a list of messages M, which are at a place of the person.
func listOf[M any](path, table string, single bool, columns []column, at func(*commonsv1.Person) *[]*M, open func(*M) element) list {
	return list{
		path: path, table: table, single: single, columns: columns,
		elements: func(p *commonsv1.Person) []element {
			messages := *at(p)
			out := make([]element, len(messages))
			for i, m := range messages {
				out[i] = open(m)
			}
			return out
		},
		add: func(p *commonsv1.Person) element {
			m := new(M)
			*at(p) = append(*at(p), m)
			return open(m)
		},
		clear: func(p *commonsv1.Person) { *at(p) = nil },
	}
}

// information answers that part of a person, made if need be.
func information(p *commonsv1.Person) *commonsv1.PersonInformation {
	if p.PersonInformation == nil {
		p.PersonInformation = &commonsv1.PersonInformation{}
	}
	return p.PersonInformation
}

// job answers that part of a person, or an empty one that is not part of them:
// looking at a list leaves the person as they are.
func job(p *commonsv1.Person) *commonsv1.JobAssignment {
	if p.JobAssignment == nil {
		return &commonsv1.JobAssignment{}
	}
	return p.JobAssignment
}
