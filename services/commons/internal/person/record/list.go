package record

import (
	"slices"
	"sync"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// List is a list of a person that is kept in a table of its own: where it is in
// the message, and what it consists of.
type List struct {
	Path, Table string
	// Keys is how many of the columns, from the first on, tell apart what may
	// hold at the same time. None: there is at most one element for a day.
	Keys int
	// Undated says that the elements hold always.
	Undated bool
	// empty reports whether an element says that there is nothing on its days,
	// so that it takes away and is not kept. Nil: none does.
	empty func(Element) bool
	// Columns are those of an element's values.
	Columns []column
	// Elements answers the elements that a person has; add answers a new one;
	// clear removes them all.
	Elements func(*Record) []Element
	Add      func(*Record) Element
	Clear    func(*Record)
}

// column is a column of a table, its type, and the property that it holds.
type column struct{ Name, Kind, Property string }

// Element is an element of a list: pointers into its message. Its effective
// date is included, its expiration excluded; both are nil in undated lists.
type Element struct {
	Effective, Expiration *string
	// Values are in the order of the columns: *string, **float64,
	// **bool, day or criteria.
	Values []any
}

// Lists are all lists that have tables. They are made once, and never changed.
var Lists = sync.OnceValue(func() []List {
	return slices.Concat(statusLists(), jobLists(), []List{wageRuleList()}, accessLists(), contactLists())
})

func statusLists() []List {
	return []List{
		listOf("personInformation.employmentStatusList", "employment_status", 0,
			[]column{{"status", "text", "employmentStatusName"}},
			func(r *Record) *[]*commonsv1.EmploymentStatus { return &informationOrEmpty(r).EmploymentStatusList },
			func(s *commonsv1.EmploymentStatus) Element {
				return Element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.EmploymentStatusName}}
			}),
		listOf("personInformation.userAccountStatusList", "user_account_status", 0,
			[]column{{"status", "text", "userAccountStatusName"}},
			func(r *Record) *[]*commonsv1.UserAccountStatus { return &informationOrEmpty(r).UserAccountStatusList },
			func(s *commonsv1.UserAccountStatus) Element {
				return Element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.UserAccountStatusName}}
			}),
		listOf("personInformation.badgeAssignments", "badge_assignment", 1,
			[]column{{"badge_number", "text", "badgeNumber"}},
			func(r *Record) *[]*commonsv1.BadgeAssignment { return &informationOrEmpty(r).BadgeAssignments },
			func(b *commonsv1.BadgeAssignment) Element {
				return Element{&b.EffectiveDate, &b.ExpirationDate, []any{&b.BadgeNumber}}
			}),
	}
}

func jobLists() []List {
	return []List{
		listOf("jobAssignment.primaryLaborAccounts", "primary_labor_account", 0,
			[]column{
				{"organization_path", "text", "organizationPath"}, {"labor_category_name", "text", "laborCategoryName"},
				{"path_criteria", "bytea", "orgPathByCriteria"},
			},
			func(r *Record) *[]*commonsv1.PrimaryLaborAccount { return &JobOrEmpty(r).PrimaryLaborAccounts },
			func(a *commonsv1.PrimaryLaborAccount) Element {
				return Element{&a.EffectiveDate, &a.ExpirationDate, []any{
					&a.OrganizationPath, &a.LaborCategoryName, criteria{&a.OrgPathByCriteria},
				}}
			}),
		listOf("jobAssignment.baseWageRates", "base_wage_rate", 0,
			[]column{{"hourly_rate", "double precision", "hourlyRate"}},
			func(r *Record) *[]*commonsv1.BaseWageRate { return &JobOrEmpty(r).BaseWageRates },
			func(w *commonsv1.BaseWageRate) Element {
				return Element{&w.EffectiveDate, &w.ExpirationDate, []any{&w.HourlyRate}}
			}),
		listOf("jobAssignment.jobAssignmentDetails.payRuleName", "pay_rule_assignment", 0,
			[]column{{"pay_rule_name", "text", "payRuleName"}},
			func(r *Record) *[]*PayRule { return &r.PayRules },
			func(p *PayRule) Element { return Element{&p.Effective, &p.Expiration, []any{&p.Name}} }),
	}
}

func accessLists() []List {
	return []List{
		listOf("personInformation.accessAssignment.effectiveDatedTimeEntryMethods", "time_entry_method", 0,
			[]column{
				{"time_entry_type_name", "text", "timeEntryTypeName"},
				{"activity_tracking_status", "text", "timeEntryActivityTrackingStatus"},
			},
			func(r *Record) *[]*commonsv1.TimeEntryMethod { return &AccessOrEmpty(r).EffectiveDatedTimeEntryMethods },
			func(m *commonsv1.TimeEntryMethod) Element {
				return Element{&m.EffectiveDate, &m.ExpirationDate, []any{&m.TimeEntryTypeName, &m.TimeEntryActivityTrackingStatus}}
			}),
		listOf("personInformation.personAccessAssignments", "person_access_assignment", 0, accessColumns(),
			func(r *Record) *[]*commonsv1.PersonAccessAssignment {
				return &informationOrEmpty(r).PersonAccessAssignments
			},
			func(a *commonsv1.PersonAccessAssignment) Element {
				return Element{&a.EffectiveDate, &a.ExpirationDate, []any{
					&a.HomeHyperFindQueryName, &a.ManagerEmployeeGroupName,
					&a.ManagerTransferOrganizationSetName,
					Day{&a.ManagerTransferOrganizationSetEffectiveDate}, Day{&a.ManagerTransferOrganizationSetExpirationDate},
					&a.ProfessionalTransferOrganizationSetName,
					Day{&a.ProfessionalTransferOrganizationSetEffectiveDate}, Day{&a.ProfessionalTransferOrganizationSetExpirationDate},
					&a.EmpMgrTransferOrganizationSetName,
					Day{&a.EmpMgrTransferOrganizationSetEffectiveDate}, Day{&a.EmpMgrTransferOrganizationSetExpirationDate},
				}}
			}),
		listOf("gdapAssignments", "gdap_assignment", 2,
			[]column{
				{"gdap_name", "text", "gdapName"}, {"role", "text", "role"}, {"default_switch", "bool", "defaultSwitch"},
				{"original_from_date", "date", "originalEffectiveDate"}, {"original_to_date", "date", "originalExpirationDate"},
			},
			func(r *Record) *[]*commonsv1.GroupDataAccess { return &r.Message.GdapAssignments },
			func(g *commonsv1.GroupDataAccess) Element {
				return Element{&g.EffectiveDate, &g.ExpirationDate, []any{
					&g.GdapName, &g.Role, &g.DefaultSwitch, Day{&g.OriginalEffectiveDate}, Day{&g.OriginalExpirationDate},
				}}
			}),
	}
}

func accessColumns() []column {
	columns := []column{
		{"home_hyper_find_query_name", "text", "homeHyperFindQueryName"},
		{"manager_employee_group_name", "text", "managerEmployeeGroupName"},
	}
	for _, set := range [][2]string{{"manager", "manager"}, {"professional", "professional"}, {"emp_mgr", "empMgr"}} {
		columns = append(columns,
			column{set[0] + "_transfer_set_name", "text", set[1] + "TransferOrganizationSetName"},
			column{set[0] + "_transfer_set_from", "date", set[1] + "TransferOrganizationSetEffectiveDate"},
			column{set[0] + "_transfer_set_to", "date", set[1] + "TransferOrganizationSetExpirationDate"})
	}
	return columns
}

func contactLists() []List {
	return []List{
		undated(listOf("personInformation.customDataList", "custom_data", 1,
			[]column{{"type_name", "text", "customDataTypeName"}, {"text", "text", "text"}},
			func(r *Record) *[]*commonsv1.CustomData { return &informationOrEmpty(r).CustomDataList },
			func(c *commonsv1.CustomData) Element {
				return Element{Values: []any{&c.CustomDataTypeName, &c.Text}}
			})),
		undated(listOf("personInformation.customDateList", "custom_date", 1,
			[]column{{"type_name", "text", "customDateTypeName"}, {"date", "date", "date"}},
			func(r *Record) *[]*commonsv1.CustomDate { return &informationOrEmpty(r).CustomDateList },
			func(c *commonsv1.CustomDate) Element {
				return Element{Values: []any{&c.CustomDateTypeName, Day{&c.Date}}}
			})),
		undated(listOf("personInformation.emailAddresses", "email_address", 1,
			[]column{
				{"contact_type_name", "text", "contactTypeName"}, {"address", "text", "address"},
				{"notification", "bool", "hasEmailNotificationDelivery"},
			},
			func(r *Record) *[]*commonsv1.EmailAddress { return &informationOrEmpty(r).EmailAddresses },
			func(e *commonsv1.EmailAddress) Element {
				return Element{Values: []any{&e.ContactTypeName, &e.Address, &e.HasEmailNotificationDelivery}}
			})),
	}
}

// undated makes a list one whose elements hold always. An empty text says that
// there is nothing.
func undated(l List) List {
	l.Undated = true
	l.empty = func(e Element) bool {
		text, ok := e.Values[l.Keys].(*string)
		return ok && *text == ""
	}
	return l
}

// listOf makes a list of messages M, which are at a place of the record.
func listOf[M any](path, table string, keys int, columns []column, at func(*Record) *[]*M, open func(*M) Element) List {
	return List{
		Path: path, Table: table, Keys: keys, Columns: columns,
		Elements: func(r *Record) []Element {
			messages := *at(r)
			out := make([]Element, len(messages))
			for i, m := range messages {
				out[i] = open(m)
			}
			return out
		},
		Add: func(r *Record) Element {
			m := new(M)
			*at(r) = append(*at(r), m)
			return open(m)
		},
		Clear: func(r *Record) { *at(r) = nil },
	}
}

// informationOrEmpty answers that part of a person, or an empty one that is not part
// of them: looking at a list leaves the person as they are. So do job and
// access. Of a person who has something in a part, the part is there.
func informationOrEmpty(r *Record) *commonsv1.PersonInformation {
	if part := r.Message.GetPersonInformation(); part != nil {
		return part
	}
	return &commonsv1.PersonInformation{}
}

func JobOrEmpty(r *Record) *commonsv1.JobAssignment {
	if part := r.Message.GetJobAssignment(); part != nil {
		return part
	}
	return &commonsv1.JobAssignment{}
}

func AccessOrEmpty(r *Record) *commonsv1.AccessAssignment {
	if part := r.Message.GetPersonInformation().GetAccessAssignment(); part != nil {
		return part
	}
	return &commonsv1.AccessAssignment{}
}

// WageRule is what holds for a person in a job on some days. Without a rate and
// a work rule it says that nothing of its own does.
type WageRule struct {
	Path, WorkRule        string
	Rate                  *float64
	Effective, Expiration string
}

func wageRuleList() List {
	l := listOf("wageWorkRules", "wage_work_rule", 1,
		[]column{
			{"organization_path", "text", "job"}, {"hourly_rate", "double precision", "hourlyRate"},
			{"work_rule_name", "text", "workRule"},
		},
		func(r *Record) *[]*WageRule { return &r.WageRules },
		func(w *WageRule) Element {
			return Element{&w.Effective, &w.Expiration, []any{&w.Path, &w.Rate, &w.WorkRule}}
		})
	l.empty = func(e Element) bool { return *e.Values[1].(**float64) == nil && *e.Values[2].(*string) == "" }
	return l
}
