package ir

// allAxes is the list that axis lists without gaps are cut from, so that
// normalising the usual ones allocates nothing.
var allAxes = func() (a [MaxRank]int) {
	for i := range a {
		a[i] = i
	}
	return
}()

// normalAxis returns axis a counted from the front.
func normalAxis(a, rank int) (int, error) {
	if a < -rank || a >= rank {
		return 0, shapeErrorf("axis %d is out of range for rank %d", a, rank)
	}
	if a < 0 {
		a += rank
	}
	return a, nil
}

// oneAxis normalises the single axis of o and returns it.
func (o *Operation) oneAxis(rank int) (int, error) {
	if n := len(o.Attrs.Axes); n != 1 {
		return 0, argumentErrorf("works along one axis, got %d", n)
	}
	given := o.Attrs.Axes[0]
	a, err := normalAxis(given, rank)
	if err != nil {
		return 0, err
	}
	if a != given {
		o.Attrs.Axes = allAxes[a : a+1 : a+1]
	}
	return a, nil
}

// axisSet is a set of axes of a tensor, one bit each.
type axisSet uint64

func (s axisSet) has(axis int) bool { return s>>axis&1 != 0 }

// manyAxes normalises and sorts the axes of o and returns them as a set; no
// axes at all means every axis.
func (o *Operation) manyAxes(rank int) (axisSet, error) {
	axes := o.Attrs.Axes
	if len(axes) == 0 {
		if rank > 0 {
			o.Attrs.Axes = allAxes[:rank:rank]
		}
		return axisSet(1)<<rank - 1, nil
	}
	var set axisSet
	normal, last := true, -1
	for _, given := range axes {
		a, err := normalAxis(given, rank)
		if err != nil {
			return 0, err
		}
		if set.has(a) {
			return 0, shapeErrorf("axis %d is given twice", a)
		}
		set |= 1 << a
		normal = normal && given == a && a > last
		last = a
	}
	if !normal {
		sorted := make([]int, 0, len(axes))
		for a := range rank {
			if set.has(a) {
				sorted = append(sorted, a)
			}
		}
		o.Attrs.Axes = sorted
	}
	return set, nil
}

// permutation normalises the axes of o, which must be a permutation of all.
func (o *Operation) permutation(rank int) error {
	axes := o.Attrs.Axes
	if len(axes) != rank {
		return shapeErrorf("permutation of %d axes does not fit rank %d", len(axes), rank)
	}
	var set axisSet
	normal := true
	for _, given := range axes {
		a, err := normalAxis(given, rank)
		if err != nil {
			return err
		}
		if set.has(a) {
			return shapeErrorf("axis %d is given twice", a)
		}
		set |= 1 << a
		normal = normal && given == a
	}
	if !normal {
		o.Attrs.Axes = make([]int, rank)
		for i, a := range axes {
			if a < 0 {
				a += rank
			}
			o.Attrs.Axes[i] = a
		}
	}
	return nil
}
