package delivery

import "time"

const (
	// slowAfter is how long a failed attempt may take before its webhook is tried less.
	slowAfter = 2 * time.Second
	// firstPause is how long a webhook is left alone after one such failure. It doubles with
	// each, up to the pause after a delivery's first attempt.
	firstPause = time.Second
)

// endpoint is where deliveries go: a webhook of a tenant, or with 0 the mail server.
type endpoint struct{ tenant, webhook int64 }

// load is what a process does at an endpoint.
type load struct {
	running int
	// slow counts the failures in a row that took long or reached nobody, and until is how long the endpoint
	// is left alone.
	slow  int
	until time.Time
}

// shares bound the attempts of a process at the same time.
type shares struct {
	// tenant is the share of a tenant, and mail and webhooks are the shares of a channel in
	// it: neither takes all places from the other.
	tenant, mail, webhooks int
	// webhook is the share of one webhook.
	webhook int
}

func sharesOf(concurrency int) shares {
	tenant := max(concurrency/2, 1)
	return shares{
		tenant: tenant, mail: tenant - tenant/4, webhooks: max(tenant-max(tenant/4, 1), 1), webhook: max(tenant/4, 1),
	}
}

// room is how many attempts may begin, in columns as the database takes them. Tenants and
// endpoints at which nothing happens are absent.
type room struct {
	total                         int
	tenants                       []int64
	free, freeMail, freeWebhooks  []int32
	endpointTenants, endpointHook []int64
	endpointFree                  []int32
}

// room returns how many attempts may begin now.
func (s *Sender) room(now time.Time) room {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := room{total: s.cfg.Concurrency - s.total}
	hooks := map[int64]int{}
	for at, l := range s.endpoints {
		if at.webhook == 0 {
			continue
		}
		hooks[at.tenant] += l.running
		free := s.shares.webhook - l.running
		switch {
		case now.Before(l.until):
			free = 0
		case l.slow > 0:
			free = 1 - l.running // One attempt shows whether it is back.
		}
		r.endpointTenants, r.endpointHook = append(r.endpointTenants, at.tenant), append(r.endpointHook, at.webhook)
		r.endpointFree = append(r.endpointFree, int32(max(free, 0)))
	}
	for tenantID, n := range s.running {
		mails := n - hooks[tenantID]
		r.tenants = append(r.tenants, tenantID)
		r.free = append(r.free, int32(max(s.shares.tenant-n, 0)))
		r.freeMail = append(r.freeMail, int32(max(s.shares.mail-mails, 0)))
		r.freeWebhooks = append(r.freeWebhooks, int32(max(s.shares.webhooks-hooks[tenantID], 0)))
	}
	return r
}

// note counts an attempt that begins or ends.
func (s *Sender) note(d *Delivery, by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total += by
	if s.running[d.Tenant] += by; s.running[d.Tenant] == 0 {
		delete(s.running, d.Tenant)
	}
	at := endpoint{d.Tenant, d.WebhookID}
	l := s.endpoints[at]
	l.running += by
	s.keep(at, l)
}

// judge leaves a webhook alone for a while after a failure that took long, because such
// attempts take the places of others, and when it could not be reached.
func (s *Sender) judge(d *Delivery, o outcome) {
	if d.WebhookID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := endpoint{d.Tenant, d.WebhookID}
	l := s.endpoints[at]
	if o.state == Delivered || o.ended.Sub(o.started) < slowAfter && o.conceal == 0 {
		l.slow, l.until = 0, time.Time{}
	} else {
		l.until = o.ended.Add(min(firstPause<<min(l.slow, 20), s.cfg.RetryFirst))
		l.slow++
	}
	s.keep(at, l)
}

// keep remembers an endpoint that is more than idle. The caller holds the mutex.
func (s *Sender) keep(at endpoint, l load) {
	if l == (load{}) {
		delete(s.endpoints, at)
	} else {
		s.endpoints[at] = l
	}
}
