package account

import authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"

// intent is a stored notification to auth about a person, with its initiator.
type intent struct {
	Tenant, Person, Version int64
	User                    string
	ByPerson                int64
	Client, RequestID       string
}

// intentGroup holds the intents for one call to auth, all of one tenant and one request.
type intentGroup struct {
	tenant    int64
	initiator *authv1.Initiator
	intents   []intent
}

// groupIntents groups intents by request.
func groupIntents(noted []intent) []*intentGroup {
	type request struct {
		tenant, person   int64
		user, client, id string
	}
	var out []*intentGroup
	known := map[request]*intentGroup{}
	for _, i := range noted {
		k := request{i.Tenant, i.ByPerson, i.User, i.Client, i.RequestID}
		if known[k] == nil {
			by := &authv1.Initiator{UserName: i.User, PersonId: i.ByPerson, ClientId: i.Client, RequestId: i.RequestID}
			known[k] = &intentGroup{tenant: i.Tenant, initiator: by}
			out = append(out, known[k])
		}
		known[k].intents = append(known[k].intents, i)
	}
	return out
}

func (e *intentGroup) columns() (ids, versions []int64) {
	for _, i := range e.intents {
		ids, versions = append(ids, i.Person), append(versions, i.Version)
	}
	return ids, versions
}
