package person

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// change answers a stored person after what a caller sent of them, and nothing
// else, was changed. An element of a dated list replaces what held on its days;
// without a first day it begins today.
func (r *rules) change(old *stored, in *commonsv1.Person, wages []*wageRule, today civil.Date) (*draft, error) {
	sent := (&record{person: in, wageRules: wages}).clone()
	sent.person.PersonIdentity = nil
	if err := checkRequiredParts(sent.person); err != nil {
		return nil, err
	}
	if err := checkSent(sent); err != nil {
		return nil, err
	}
	sent.hideKnown(old.record)
	sent.keepAddresses(old.record)
	if err := settle(sent, today); err != nil {
		return nil, err
	}
	if err := sent.keepWages(old.record); err != nil {
		return nil, err
	}
	asked, err := takeTerms(sent.person, today)
	if err != nil {
		return nil, err
	}
	account := takeAccount(sent.person)
	d := &draft{record: old.clone(), asked: asked}
	hired := sent.details().GetHireDate() != ""
	licensed := timekeepingLicense(sent.person) != ""
	d.apply(sent)
	if err := checkRequiredOnce(d.person); err != nil {
		return nil, err
	}
	if hired {
		d.beginActive()
	}
	if licensed {
		if err := checkLicense(d.record); err != nil {
			return nil, err
		}
	}
	d.account = d.changedAccount(old, account)
	return d, r.complete(d)
}

func (r *record) clone() *record {
	out := &record{person: proto.CloneOf(r.person), aoid: r.aoid, coid: r.coid, terms: slices.Clone(r.terms)}
	for _, rule := range r.payRules {
		copied := *rule
		out.payRules = append(out.payRules, &copied)
	}
	for _, rule := range r.wageRules {
		copied := *rule
		out.wageRules = append(out.wageRules, &copied)
	}
	return out
}

// apply puts what was sent into a record, list by list, and then the rest.
func (r *record) apply(sent *record) {
	all := lists()
	fresh := make([][]entry, len(all))
	for i, l := range all {
		fresh[i] = l.entries(sent)
		l.clear(sent)
	}
	// The parts that the lists are in come with the rest.
	merge(r.person.ProtoReflect(), sent.person.ProtoReflect())
	for i, l := range all {
		if len(fresh[i]) > 0 {
			l.put(r, l.kept(overlay(l.entries(r), fresh[i])))
		}
	}
}

// kept leaves out the entries that say that there is nothing: an empty text, an
// empty address, no wage.
func (l list) kept(entries []entry) []entry {
	if l.empty == nil {
		return entries
	}
	return slices.DeleteFunc(entries, func(e entry) bool { return l.empty(e.element) })
}

// changedAccount answers what auth has to be told of the user account, given
// what was sent of it, or nil.
func (d *draft) changedAccount(old *stored, sent *account) *account {
	now := &account{
		userName:      userAccountOf(d.record).GetUserName(),
		accessProfile: access(d.record).GetAccessProfileName(),
	}
	if sent != nil {
		now.password = sent.password
	}
	before := userAccountOf(old.record).GetUserName()
	switch {
	case now.userName == "",
		before == now.userName && now.password == "" && access(old.record).GetAccessProfileName() == now.accessProfile &&
			old.number() == d.number():
		return nil
	}
	now.known = before != ""
	return now
}
