// 64 bits as (low, high), shifted right; the lowest bit keeps whether any bit fell off.
fn kogge_fused_shift(x: vec2<u32>, by: i32) -> vec2<u32> {
    if (by <= 0) { return x; }
    if (by >= 64) { return vec2<u32>(select(0u, 1u, (x.x | x.y) != 0u), 0u); }
    let n = u32(by) & 31u;
    var low = x.x;
    var high = x.y;
    var lost = 0u;
    if (by >= 32) { lost = low; low = high; high = 0u; }
    if (n > 0u) {
        lost |= low << (32u - n);
        low = (low >> n) | (high << (32u - n));
        high = high >> n;
    }
    return vec2<u32>(low | select(0u, 1u, lost != 0u), high);
}

// A finite non-zero float as mantissa and exponent: 2^23 <= mantissa < 2^24.
fn kogge_fused_parts(bits: u32) -> vec2<i32> {
    let mantissa = bits & 0x7fffffu;
    let exponent = i32((bits >> 23u) & 0xffu);
    if (exponent > 0) { return vec2<i32>(i32(mantissa | 0x800000u), exponent - 150); }
    let shift = countLeadingZeros(mantissa) - 8u;
    return vec2<i32>(i32(mantissa << shift), -149 - i32(shift));
}

fn kogge_fused(a: f32, b: f32, c: f32) -> f32 {
    let x = bitcast<u32>(a);
    let y = bitcast<u32>(b);
    let z = bitcast<u32>(c);
    let finite = (x & 0x7f800000u) != 0x7f800000u && (y & 0x7f800000u) != 0x7f800000u;
    if (!finite) { return a * b + c; }
    if ((z & 0x7f800000u) == 0x7f800000u) { return c; }
    let negative = (x ^ y) & 0x80000000u;
    if ((x & 0x7fffffffu) == 0u || (y & 0x7fffffffu) == 0u) {
        // An exact zero: only two negative zeros give a negative one.
        if ((z & 0x7fffffffu) == 0u) { return bitcast<f32>(negative & z); }
        return c;
    }

    let p = kogge_fused_parts(x);
    let q = kogge_fused_parts(y);
    // 24 by 24 bits from four products of 12 by 12.
    let p_low = u32(p.x) & 0xfffu;
    let p_high = u32(p.x) >> 12u;
    let q_low = u32(q.x) & 0xfffu;
    let q_high = u32(q.x) >> 12u;
    let lows = p_low * q_low;
    let middle = p_high * q_low + p_low * q_high + (lows >> 12u);
    let highs = p_high * q_high;
    let part = (middle << 12u) | (lows & 0xfffu);
    let sum_low = part + (highs << 24u);
    let sum_high = (highs >> 8u) + (middle >> 20u) + select(0u, 1u, sum_low < part);
    // The leading bit from 46 or 47 to 60 or 61.
    var product = vec2<u32>(sum_low << 14u, (sum_high << 14u) | (sum_low >> 18u));
    var exponent = p.y + q.y - 14;

    var sign = negative;
    var total = product;
    if ((z & 0x7fffffffu) != 0u) {
        let r = kogge_fused_parts(z);
        var summand = vec2<u32>(0u, u32(r.x) << 6u);
        let distance = exponent - (r.y - 38);
        summand = kogge_fused_shift(summand, distance);
        product = kogge_fused_shift(product, -distance);
        exponent = max(exponent, r.y - 38);
        if (negative == (z & 0x80000000u)) {
            let s = product.x + summand.x;
            total = vec2<u32>(s, product.y + summand.y + select(0u, 1u, s < product.x));
        } else {
            if (product.x == summand.x && product.y == summand.y) { return 0.0f; }
            let less = product.y < summand.y || (product.y == summand.y && product.x < summand.x);
            let large = select(product, summand, less);
            let small = select(summand, product, less);
            sign = select(negative, z & 0x80000000u, less);
            total = vec2<u32>(large.x - small.x, large.y - small.y - select(0u, 1u, large.x < small.x));
        }
    }

    // The leading bit to 63; 24 bits from there are the mantissa, unless the result is subnormal.
    if (total.y == 0u) { total = vec2<u32>(0u, total.x); exponent -= 32; }
    let zeros = countLeadingZeros(total.y);
    if (zeros > 0u) {
        total = vec2<u32>(total.x << zeros, (total.y << zeros) | (total.x >> (32u - zeros)));
        exponent -= i32(zeros);
    }
    var lowest = exponent + 40;
    if (lowest < -149) {
        total = kogge_fused_shift(total, -149 - lowest);
        lowest = -149;
    }
    if (lowest + 150 > 254) { return bitcast<f32>(sign | 0x7f800000u); }
    let mantissa = total.y >> 8u;
    let rest = total.y & 0xffu;
    let above = rest > 0x80u || (rest == 0x80u && total.x != 0u);
    let half = rest == 0x80u && total.x == 0u;
    let up = select(0u, 1u, above || (half && (mantissa & 1u) == 1u));
    return bitcast<f32>(sign | ((u32(lowest + 149) << 23u) + mantissa + up));
}
