package setupname

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/domain/personreference"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// references are the kinds that persons refer to. Persons have no pay codes.
var references = map[Kind]*personreference.Kind{
	PayRule:        newReference(PayRule, "pay rule", commonsv1.PersonReference_PERSON_REFERENCE_PAY_RULE),
	WorkRule:       newReference(WorkRule, "work rule", commonsv1.PersonReference_PERSON_REFERENCE_WORK_RULE),
	AccrualProfile: newReference(AccrualProfile, "accrual profile", commonsv1.PersonReference_PERSON_REFERENCE_ACCRUAL_PROFILE),
}

// newReference declares the references of persons to a kind, whose name is the name of its table, too. A former
// name may belong to another object when persons have followed, or wait for a later name.
func newReference(kind Kind, what string, reference commonsv1.PersonReference) *personreference.Kind {
	return &personreference.Kind{
		Reference: reference, What: what,
		Waiting: fmt.Sprintf(`SELECT name FROM setup_former_name WHERE tenant_id = $1 AND kind = '%s' AND resource_id = $2 AND NOT followed ORDER BY changed_at`, kind),
		Present: fmt.Sprintf(`SELECT name FROM %s WHERE tenant_id = $1 AND id = $2`, kind),
		Followed: fmt.Sprintf(`
UPDATE setup_former_name f SET followed = true FROM %[1]s r
WHERE f.tenant_id = $1 AND f.kind = '%[1]s' AND f.name = $2 AND f.resource_id = $3 AND r.tenant_id = $1 AND r.id = $3 AND r.name = $4`, kind),
		Overdue: fmt.Sprintf(`
SELECT tenant_id, resource_id FROM setup_former_name
WHERE NOT followed AND kind = '%s' AND changed_at < clock_timestamp() - make_interval(secs => $1)
GROUP BY tenant_id, resource_id ORDER BY min(changed_at) LIMIT $2`, kind),
	}
}
