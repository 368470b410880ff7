// Package ratelimit has the definitions that the edge and the counting service share: rates, the
// classes of operations, and the default rates.
package ratelimit

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/defaults"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Bounds of the settings: the rate in requests per second, the burst in requests.
const (
	MinRate  = 0.01
	MaxRate  = 1_000_000
	MaxBurst = 10_000_000
)

// Policy is a token bucket: it fills by Rate tokens a second up to Burst, and each request takes
// one token.
type Policy struct {
	Rate  float64
	Burst int64
}

// String formats the policy for UnmarshalText: "200/400".
func (p Policy) String() string {
	return strconv.FormatFloat(p.Rate, 'f', -1, 64) + "/" + strconv.FormatInt(p.Burst, 10)
}

// UnmarshalText parses "rate/burst": the rate in requests per second and the burst in requests.
func (p *Policy) UnmarshalText(text []byte) error {
	rate, burst, found := strings.Cut(string(text), "/")
	var err error
	if p.Rate, err = strconv.ParseFloat(rate, 64); err != nil || !found {
		return fmt.Errorf("%q is not <requests per second>/<burst>, for example 200/400", text)
	}
	if p.Burst, err = strconv.ParseInt(burst, 10, 64); err != nil {
		return fmt.Errorf("%q is not <requests per second>/<burst>, for example 200/400", text)
	}
	return p.Check()
}

// Check returns an error if the policy is invalid.
func (p Policy) Check() error {
	if !(p.Rate >= MinRate && p.Rate <= MaxRate) {
		return fmt.Errorf("the rate must be from %g to %d requests per second", MinRate, MaxRate)
	}
	if p.Burst < 1 || p.Burst > MaxBurst {
		return fmt.Errorf("the burst must be from 1 to %d requests", MaxBurst)
	}
	return nil
}

// Window returns the seconds that an empty bucket takes to fill, rounded up.
func (p Policy) Window() int64 {
	return max(int64(math.Ceil(float64(p.Burst)/p.Rate)), 1)
}

// Defaults are the rates of an installation, for each client of each tenant. They allow a client
// that reads or writes as fast as it can over a few connections.
type Defaults struct {
	Read      Policy `name:"rate-read" default:"5000/10000" help:"Rate of the class read for each client: requests per second/burst."`
	BulkRead  Policy `name:"rate-bulk-read" default:"1000/2000" help:"Rate of the class bulk_read for each client."`
	Write     Policy `name:"rate-write" default:"2000/4000" help:"Rate of the class write for each client."`
	BulkWrite Policy `name:"rate-bulk-write" default:"1000/2000" help:"Rate of the class bulk_write for each client."`
	Login     Policy `name:"rate-login" default:"500/1000" help:"Rate of the class login for each address."`
	// Ceiling bounds the rates and bursts that a tenant may set for its clients, as a multiple of
	// these; 10.
	Ceiling float64 `name:"rate-ceiling" default:"10" help:"Largest multiple of a class's rate and burst that a tenant may set for its clients."`
}

var standard = defaults.Fill(Defaults{})

// Standard returns the Defaults of an installation without settings.
func Standard() Defaults { return standard }

// Of returns the rate of a class.
func (d Defaults) Of(class optionsv1.Throttle) Policy {
	return cmp.Or(d.classPolicy(class), standard.classPolicy(class))
}

// Max returns the highest rate and burst of a class that a tenant may set for its clients.
func (d Defaults) Max(class optionsv1.Throttle) Policy {
	p, times := d.Of(class), d.Ceiling
	if times <= 0 {
		times = standard.Ceiling
	}
	return Policy{
		Rate:  min(max(p.Rate*times, MinRate), MaxRate),
		Burst: int64(min(max(float64(p.Burst)*times, 1), MaxBurst)),
	}
}

// AtMost returns the policy, reduced to the limit.
func (p Policy) AtMost(limit Policy) Policy {
	return Policy{Rate: min(p.Rate, limit.Rate), Burst: min(p.Burst, limit.Burst)}
}

func (d Defaults) classPolicy(class optionsv1.Throttle) Policy {
	switch class {
	case optionsv1.Throttle_THROTTLE_BULK_READ:
		return d.BulkRead
	case optionsv1.Throttle_THROTTLE_WRITE:
		return d.Write
	case optionsv1.Throttle_THROTTLE_BULK_WRITE:
		return d.BulkWrite
	case optionsv1.Throttle_THROTTLE_LOGIN:
		return d.Login
	default:
		return d.Read
	}
}

const prefix = "THROTTLE_"

// Name returns the name of a class for callers, such as "bulk_read".
func Name(class optionsv1.Throttle) string {
	return strings.ToLower(strings.TrimPrefix(class.String(), prefix))
}

// Class returns the class with a name.
func Class(name string) (optionsv1.Throttle, bool) {
	value, ok := optionsv1.Throttle_value[prefix+strings.ToUpper(name)]
	class := optionsv1.Throttle(value)
	return class, ok && class != optionsv1.Throttle_THROTTLE_UNSPECIFIED && Name(class) == name
}

// Classes returns all classes, in order.
func Classes() []optionsv1.Throttle {
	return []optionsv1.Throttle{
		optionsv1.Throttle_THROTTLE_READ, optionsv1.Throttle_THROTTLE_BULK_READ,
		optionsv1.Throttle_THROTTLE_WRITE, optionsv1.Throttle_THROTTLE_BULK_WRITE, optionsv1.Throttle_THROTTLE_LOGIN,
	}
}
