package rotation

// MaxReach returns how many days after its own an entry of the pattern can still be running: 0 when all end by
// the midnight that ends their day.
func (p *Pattern) MaxReach() int32 { return p.maxReach }
