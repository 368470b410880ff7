package person

import (
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

// intent is a note that auth has to be told something about a person, and of whom
// asked for it.
type intent struct {
	Tenant, Person, Version int64
	User                    string
	ByPerson                int64
	Client, RequestID       string
}

// errand is what auth is told by one call: intents of one tenant and one request.
type errand struct {
	tenant int64
	by     *authv1.Initiator
	noted  []intent
}

// errands puts together what belongs to the same request.
func errands(noted []intent) []*errand {
	type request struct {
		tenant, person   int64
		user, client, id string
	}
	var out []*errand
	known := map[request]*errand{}
	for _, i := range noted {
		k := request{i.Tenant, i.ByPerson, i.User, i.Client, i.RequestID}
		if known[k] == nil {
			by := &authv1.Initiator{UserName: i.User, PersonId: i.ByPerson, ClientId: i.Client, RequestId: i.RequestID}
			known[k] = &errand{tenant: i.Tenant, by: by}
			out = append(out, known[k])
		}
		known[k].noted = append(known[k].noted, i)
	}
	return out
}

func (e *errand) columns() (ids, versions []int64) {
	for _, i := range e.noted {
		ids, versions = append(ids, i.Person), append(versions, i.Version)
	}
	return ids, versions
}
