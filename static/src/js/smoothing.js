// Curves of metrics, smoothed.

/** An exponential mean, corrected for its start, as TensorBoard draws it. */
export function smoothed(points, weight) {
  let mean = 0,
    sum = 0;
  return points.map(([x, y]) => {
    if (!Number.isFinite(y)) return [x, null];
    mean = mean * weight + (1 - weight) * y;
    sum = sum * weight + (1 - weight);
    return [x, mean / sum];
  });
}
