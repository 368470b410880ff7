package person

import (
	"slices"
	"sync"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// list is a list of a person that is kept in a table of its own: where it is in
// the message, and what it consists of.
type list struct {
	path, table string
	// keys is how many of the columns, from the first on, tell apart what may
	// hold at the same time. None: there is at most one element for a day.
	keys int
	// undated says that the elements hold always.
	undated bool
	// empty reports whether an element says that there is nothing on its days,
	// so that it takes away and is not kept. Nil: none does.
	empty func(element) bool
	// columns are those of an element's values.
	columns []column
	// elements answers the elements that a person has; add answers a new one;
	// clear removes them all.
	elements func(*record) []element
	add      func(*record) element
	clear    func(*record)
}

// column is a column of a table, its type, and the property that it holds.
type column struct{ name, kind, property string }

// element is an element of a list: pointers into its message. Its effective
// date is included, its expiration excluded; both are nil in undated lists.
type element struct {
	effective, expiration *string
	// values are in the order of the columns: *string, **float64,
	// **bool, day or criteria.
	values []any
}

// lists are all lists that have tables. They are made once, and never changed.
var lists = sync.OnceValue(func() []list {
	return slices.Concat(statusLists(), jobLists(), []list{wageRuleList()}, accessLists(), contactLists())
})

func statusLists() []list {
	return []list{
		listOf("personInformation.employmentStatusList", "employment_status", 0,
			[]column{{"status", "text", "employmentStatusName"}},
			func(r *record) *[]*commonsv1.EmploymentStatus { return &information(r).EmploymentStatusList },
			func(s *commonsv1.EmploymentStatus) element {
				return element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.EmploymentStatusName}}
			}),
		listOf("personInformation.userAccountStatusList", "user_account_status", 0,
			[]column{{"status", "text", "userAccountStatusName"}},
			func(r *record) *[]*commonsv1.UserAccountStatus { return &information(r).UserAccountStatusList },
			func(s *commonsv1.UserAccountStatus) element {
				return element{&s.EffectiveDate, &s.ExpirationDate, []any{&s.UserAccountStatusName}}
			}),
		listOf("personInformation.badgeAssignments", "badge_assignment", 1,
			[]column{{"badge_number", "text", "badgeNumber"}},
			func(r *record) *[]*commonsv1.BadgeAssignment { return &information(r).BadgeAssignments },
			func(b *commonsv1.BadgeAssignment) element {
				return element{&b.EffectiveDate, &b.ExpirationDate, []any{&b.BadgeNumber}}
			}),
	}
}

func jobLists() []list {
	return []list{
		listOf("jobAssignment.primaryLaborAccounts", "primary_labor_account", 0,
			[]column{
				{"organization_path", "text", "organizationPath"}, {"labor_category_name", "text", "laborCategoryName"},
				{"path_criteria", "bytea", "orgPathByCriteria"},
			},
			func(r *record) *[]*commonsv1.PrimaryLaborAccount { return &job(r).PrimaryLaborAccounts },
			func(a *commonsv1.PrimaryLaborAccount) element {
				return element{&a.EffectiveDate, &a.ExpirationDate, []any{
					&a.OrganizationPath, &a.LaborCategoryName, criteria{&a.OrgPathByCriteria},
				}}
			}),
		listOf("jobAssignment.baseWageRates", "base_wage_rate", 0,
			[]column{{"hourly_rate", "double precision", "hourlyRate"}},
			func(r *record) *[]*commonsv1.BaseWageRate { return &job(r).BaseWageRates },
			func(w *commonsv1.BaseWageRate) element {
				return element{&w.EffectiveDate, &w.ExpirationDate, []any{&w.HourlyRate}}
			}),
		listOf("jobAssignment.jobAssignmentDetails.payRuleName", "pay_rule_assignment", 0,
			[]column{{"pay_rule_name", "text", "payRuleName"}},
			func(r *record) *[]*payRule { return &r.payRules },
			func(p *payRule) element { return element{&p.effective, &p.expiration, []any{&p.name}} }),
	}
}

func accessLists() []list {
	return []list{
		listOf("personInformation.accessAssignment.effectiveDatedTimeEntryMethods", "time_entry_method", 0,
			[]column{
				{"time_entry_type_name", "text", "timeEntryTypeName"},
				{"activity_tracking_status", "text", "timeEntryActivityTrackingStatus"},
			},
			func(r *record) *[]*commonsv1.TimeEntryMethod { return &access(r).EffectiveDatedTimeEntryMethods },
			func(m *commonsv1.TimeEntryMethod) element {
				return element{&m.EffectiveDate, &m.ExpirationDate, []any{&m.TimeEntryTypeName, &m.TimeEntryActivityTrackingStatus}}
			}),
		listOf("personInformation.personAccessAssignments", "person_access_assignment", 0, accessColumns(),
			func(r *record) *[]*commonsv1.PersonAccessAssignment { return &information(r).PersonAccessAssignments },
			func(a *commonsv1.PersonAccessAssignment) element {
				return element{&a.EffectiveDate, &a.ExpirationDate, []any{
					&a.HomeHyperFindQueryName, &a.ManagerEmployeeGroupName,
					&a.ManagerTransferOrganizationSetName,
					day{&a.ManagerTransferOrganizationSetEffectiveDate}, day{&a.ManagerTransferOrganizationSetExpirationDate},
					&a.ProfessionalTransferOrganizationSetName,
					day{&a.ProfessionalTransferOrganizationSetEffectiveDate}, day{&a.ProfessionalTransferOrganizationSetExpirationDate},
					&a.EmpMgrTransferOrganizationSetName,
					day{&a.EmpMgrTransferOrganizationSetEffectiveDate}, day{&a.EmpMgrTransferOrganizationSetExpirationDate},
				}}
			}),
		listOf("gdapAssignments", "gdap_assignment", 2,
			[]column{
				{"gdap_name", "text", "gdapName"}, {"role", "text", "role"}, {"default_switch", "bool", "defaultSwitch"},
				{"original_from_date", "date", "originalEffectiveDate"}, {"original_to_date", "date", "originalExpirationDate"},
			},
			func(r *record) *[]*commonsv1.GroupDataAccess { return &r.person.GdapAssignments },
			func(g *commonsv1.GroupDataAccess) element {
				return element{&g.EffectiveDate, &g.ExpirationDate, []any{
					&g.GdapName, &g.Role, &g.DefaultSwitch, day{&g.OriginalEffectiveDate}, day{&g.OriginalExpirationDate},
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

func contactLists() []list {
	return []list{
		undated(listOf("personInformation.customDataList", "custom_data", 1,
			[]column{{"type_name", "text", "customDataTypeName"}, {"text", "text", "text"}},
			func(r *record) *[]*commonsv1.CustomData { return &information(r).CustomDataList },
			func(c *commonsv1.CustomData) element {
				return element{values: []any{&c.CustomDataTypeName, &c.Text}}
			})),
		undated(listOf("personInformation.customDateList", "custom_date", 1,
			[]column{{"type_name", "text", "customDateTypeName"}, {"date", "date", "date"}},
			func(r *record) *[]*commonsv1.CustomDate { return &information(r).CustomDateList },
			func(c *commonsv1.CustomDate) element {
				return element{values: []any{&c.CustomDateTypeName, day{&c.Date}}}
			})),
		undated(listOf("personInformation.emailAddresses", "email_address", 1,
			[]column{
				{"contact_type_name", "text", "contactTypeName"}, {"address", "text", "address"},
				{"notification", "bool", "hasEmailNotificationDelivery"},
			},
			func(r *record) *[]*commonsv1.EmailAddress { return &information(r).EmailAddresses },
			func(e *commonsv1.EmailAddress) element {
				return element{values: []any{&e.ContactTypeName, &e.Address, &e.HasEmailNotificationDelivery}}
			})),
	}
}

// undated makes a list one whose elements hold always. An empty text says that
// there is nothing.
func undated(l list) list {
	l.undated = true
	l.empty = func(e element) bool {
		text, ok := e.values[l.keys].(*string)
		return ok && *text == ""
	}
	return l
}

// listOf makes a list of messages M, which are at a place of the record.
func listOf[M any](path, table string, keys int, columns []column, at func(*record) *[]*M, open func(*M) element) list {
	return list{
		path: path, table: table, keys: keys, columns: columns,
		elements: func(r *record) []element {
			messages := *at(r)
			out := make([]element, len(messages))
			for i, m := range messages {
				out[i] = open(m)
			}
			return out
		},
		add: func(r *record) element {
			m := new(M)
			*at(r) = append(*at(r), m)
			return open(m)
		},
		clear: func(r *record) { *at(r) = nil },
	}
}

// information answers that part of a person, or an empty one that is not part
// of them: looking at a list leaves the person as they are. So do job and
// access. Of a person who has something in a part, the part is there.
func information(r *record) *commonsv1.PersonInformation {
	if part := r.person.GetPersonInformation(); part != nil {
		return part
	}
	return &commonsv1.PersonInformation{}
}

func job(r *record) *commonsv1.JobAssignment {
	if part := r.person.GetJobAssignment(); part != nil {
		return part
	}
	return &commonsv1.JobAssignment{}
}

func access(r *record) *commonsv1.AccessAssignment {
	if part := r.person.GetPersonInformation().GetAccessAssignment(); part != nil {
		return part
	}
	return &commonsv1.AccessAssignment{}
}

// wageRule is what holds for a person in a job on some days. Without a rate and
// a work rule it says that nothing of its own does.
type wageRule struct {
	path, workRule        string
	rate                  *float64
	effective, expiration string
}

func wageRuleList() list {
	l := listOf("wageWorkRules", "wage_work_rule", 1,
		[]column{
			{"organization_path", "text", "job"}, {"hourly_rate", "double precision", "hourlyRate"},
			{"work_rule_name", "text", "workRule"},
		},
		func(r *record) *[]*wageRule { return &r.wageRules },
		func(w *wageRule) element {
			return element{&w.effective, &w.expiration, []any{&w.path, &w.rate, &w.workRule}}
		})
	l.empty = func(e element) bool { return *e.values[1].(**float64) == nil && *e.values[2].(*string) == "" }
	return l
}
