package writer

import (
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/record"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// refuseOwn refuses a change of the caller's own record, except personal data: contact data,
// the password, and preferences of the user interface.
func refuseOwn(visible rowvisibility.Set, it *store.Item) error {
	refused := visible.RefuseOwn(it.ID)
	if it.Old == nil || refused == nil {
		return nil
	}
	if len(it.TermRequests) == 0 && sameButPersonal(it.Old.Record, it.Record) {
		return nil
	}
	return refused
}

// sameButPersonal reports whether two records differ in personal data only.
func sameButPersonal(before, after *record.Record) bool {
	return proto.Equal(withoutPersonal(before.Message), withoutPersonal(after.Message)) &&
		equal(before.PayRules, after.PayRules) && equal(before.WageRules, after.WageRules)
}

func equal[M proto.Message](a, b []M) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !proto.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// withoutPersonal returns a copy of a person without personal data and computed properties.
func withoutPersonal(p *commonsv1.Person) *commonsv1.Person {
	out := proto.CloneOf(p)
	out.PersonIdentity = nil
	if info := out.GetPersonInformation(); info != nil {
		info.EmailAddresses, info.TelephoneNumbers, info.PostalAddresses = nil, nil, nil
		if access := info.GetAccessAssignment(); access != nil {
			access.PreferenceProfileName, access.NotificationProfileName, access.LocalePolicyName = "", "", ""
			info.AccessAssignment = orNil(access)
		}
		out.PersonInformation = orNil(info)
	}
	if user := out.GetUser(); user != nil {
		if account := user.GetUserAccount(); account != nil {
			account.UserPassword, account.PasswordUpdateFlag = "", nil
			user.UserAccount = orNil(account)
		}
		out.User = orNil(user)
	}
	return out
}

// orNil returns a message, or nil if it is empty.
func orNil[T any, M interface {
	*T
	proto.Message
}](m M) M {
	if proto.Size(m) == 0 {
		return nil
	}
	return m
}
